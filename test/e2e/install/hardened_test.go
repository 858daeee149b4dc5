package install

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"testing"
)

// What is installed is loaded at addresses drawn by lot, and what the loader fills in
// cannot be written afterwards; stacks hold no programs.
func TestHardened(t *testing.T) {
	t.Parallel()
	dest := t.TempDir()
	build(t, "install", "DESTDIR="+dest)
	for _, path := range []string{"usr/local/bin/weft", "usr/local/lib/libweft-c.so.1", "usr/local/lib/libweft.so"} {
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
