package install

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The program is built hardened. What comes of that, which takes a minute to compile, is looked at with
// WEFT_THOROUGH only; the libraries are always hardened, and TestInstallAndUninstall looks at them.
func TestHardened(t *testing.T) {
	t.Parallel()
	if said := run(t, root, "make", "-n", "build", "OUT="+out); !strings.Contains(said, "-buildmode=pie") || !strings.Contains(said, "-bindnow") {
		t.Errorf("make build says\n%s", said)
	}
	if os.Getenv("WEFT_THOROUGH") != "" {
		dest := t.TempDir()
		build(t, "install", "DESTDIR="+dest, "HARDENED=yes")
		checkHardened(t, filepath.Join(dest, "usr/local/bin/weft"))
	}
}

// checkHardened demands of a program or a library that it is loaded at addresses drawn by lot, that what the loader
// fills in cannot be written afterwards, and that stacks hold no programs.
func checkHardened(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
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
