package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/tablefiles"
)

// smallDisk is a file system of 64 KiB.
func smallDisk(t *testing.T) string {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	outside := filepath.Join(t.TempDir(), "t")
	// What fits is written, and survives what does not.
	small := filepath.Join(disk, "fabric")
	if code, _, stderr := runWeft("generate", "ring:3", "-o", small); code != exit.OK {
		t.Fatal(stderr)
	}
	tables := filepath.Join(disk, "t")
	if code, _, stderr := runWeft("route", "ring:3", "--engine", "updn", "--out", tables); code != exit.OK {
		t.Fatal(stderr)
	}
	if code, _, stderr := runWeft("route", "torus:5x5", "--out", outside); code != exit.OK {
		t.Fatal(stderr)
	}
	before := contents(t, disk)
	for _, args := range [][]string{
		{"generate", "torus:16x16", "-o", small},
		{"generate", "torus:32x32", "-o", small + ".gz"},
		{"convert", "torus:16x16", small},
		{"convert", filepath.Join(outside, tablefiles.ForwardingFile), filepath.Join(disk, "lfts"), "--fabric", "torus:5x5"},
		{"route", "torus:5x5", "--out", filepath.Join(disk, "new")},
		{"route", "torus:5x5", "--out", tables, "--force"},
	} {
		code, stdout, stderr := runWeft(args...)
		if code != exit.BadInput || stdout != "" || !strings.Contains(stderr, "no space left on device") || !strings.Contains(stderr, args[len(args)-1]) && !strings.Contains(stderr, disk) {
			t.Errorf("%q: exit code %d, %q, %q", args, code, stdout, stderr)
		}
		if after := contents(t, disk); after != before {
			t.Errorf("%q: there was %s; there is %s", args, before, after)
		}
	}
}

// The way out and the way back are written both or not at all: with the way back of another way out nobody is helped.
func TestFullDiskOfTheWayBack(t *testing.T) {
	dir := t.TempDir()
	tables, away := filepath.Join(dir, "t"), filepath.Join(dir, "away")
	if code, _, stderr := runWeft("route", "torus:4x4", "--engine", "updn", "--out", tables); code != exit.OK {
		t.Fatal(stderr)
	}
	for _, back := range []string{filepath.Join(smallDisk(t), "back"), filepath.Join(dir, "back")} {
		code, _, stderr := runWeft("drain", "torus:4x4", "--tables", tables, "--cable", "sw-0-0:2", "--steps", away, "--back-steps", back)
		_, err := os.Stat(away)
		if full := filepath.Dir(back) != dir; full && (code != exit.BadInput || err == nil) || !full && (code != exit.OK || err != nil) {
			t.Errorf("%s: exit code %d, %v, %s", back, code, err, stderr)
		}
	}
}

// What a disk is full of is said: the system says the same of both.
func TestFullDiskSaysOfWhat(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,nr_inodes=3"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	for _, dir := range []string{disk, smallDisk(t)} {
		want := "0 bytes can still be written in " + dir
		if dir == disk {
			want = "no file can be made in " + dir + " any more, since the inodes of its disk are used up (df -i)"
		} else if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 128<<10), 0o600); err == nil {
			t.Fatal("it is not full")
		}
		code, _, stderr := runWeft("route", "ring:3", "--engine", "updn", "--out", filepath.Join(dir, "t"))
		if code != exit.BadInput || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, %s", code, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "t")); err == nil {
			t.Error("there is a folder")
		}
	}
}

// contents is every file below a folder with what is in it.
func contents(t *testing.T, dir string) string {
	var list []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == dir {
			return err
		}
		text, err := os.ReadFile(path)
		if info.IsDir() {
			err = nil
		}
		list = append(list, path+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// A device is written into, never replaced by a file of its name.
func TestDevice(t *testing.T) {
	full := filepath.Join(t.TempDir(), "full")
	if err := syscall.Mknod(full, syscall.S_IFCHR|0o666, 1<<8|7); err != nil {
		t.Skipf("a device cannot be made here: %v", err)
	}
	if f, err := os.OpenFile(full, os.O_WRONLY, 0); err != nil {
		t.Skipf("a device cannot be opened here: %v", err)
	} else {
		f.Close()
	}
	code, _, stderr := runWeft("generate", "torus:4x4", "-o", full)
	if code != exit.BadInput || !strings.Contains(stderr, full+" cannot be written: no space left on device") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if info, err := os.Stat(full); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("the device is now %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(full)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
