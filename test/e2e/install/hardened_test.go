package install

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is installed is loaded at addresses drawn by lot, and what the loader fills in
// cannot be written afterwards; stacks hold no programs. Of weft
// itself, which takes a minute to compile that way, it is its build that is looked at unless
// thoroughly.
func TestHardened(t *testing.T) {
	t.Parallel()
	dest := t.TempDir()
	paths := []string{"usr/local/bin/weft", "usr/local/lib/libweft-c.so.1", "usr/local/lib/libweft.so"}
	if os.Getenv("WEFT_THOROUGH") != "" {
		build(t, "install", "DESTDIR="+dest, "HARDENED=yes")
	} else {
		build(t, "install", "DESTDIR="+dest)
		paths = paths[1:]
		if said := run(t, root, "make", "-n", "build", "OUT="+out); !strings.Contains(said, "-buildmode=pie") || !strings.Contains(said, "-bindnow") {
			t.Errorf("make build says\n%s", said)
		}
	}
	for _, path := range paths {
		f, err := elf.Open(filepath.Join(dest, path))
		if err != nil {
			if path != "usr/local/bin/weft" {
				t.Skipf("without the plugin or the library: %v", err)
			}
			t.Fatal(err)
		}
		defer f.Close()
		if f.Type != elf.ET_DYN {
			t.Errorf("%s: %v, want a position-independent file", path, f.Type)
		}
		relro, stack := false, false
		for _, p := range f.Progs {
			relro = relro || p.Type == elf.PT_GNU_RELRO
			stack = stack || p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X == 0
		}
		flags, err := f.DynValue(elf.DT_FLAGS_1)
		if err != nil {
			t.Fatal(err)
		}
		if now := slices.ContainsFunc(flags, func(v uint64) bool { return elf.DynFlag1(v)&elf.DF_1_NOW != 0 }); !relro || !stack || !now {
			t.Errorf("%s: RELRO %v, all bound at the start %v, stack without programs %v", path, relro, now, stack)
		}
	}
}
