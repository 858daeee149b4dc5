package reading

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func zstdPacked(t *testing.T, text string) []byte {
	return packedBy(t, text, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

func xzPacked(t *testing.T, text string, window int) []byte {
	return packedBy(t, text, func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: window}.NewWriter(w) })
}

// What breaks off inside a packed file is an error with the line it reached.
func TestCutWhilePacked(t *testing.T) {
	text := strings.Repeat("line\n", 100)
	blocks := packedBy(t, text, func(w io.Writer) (io.WriteCloser, error) {
		return xz.WriterConfig{DictCap: 1 << 16, BlockSize: 50}.NewWriter(w)
	})
	oneBlock := xzPacked(t, text[:50], 1<<16)
	for name, packed := range map[string][]byte{
		"gzip": gzipped(t, text)[:20], "zstd": zstdPacked(t, text)[:20], "xz": xzPacked(t, text, 1<<16)[:60], "bzip2": []byte(helloBzip2[:20]),
		"xz without its footer": blocks[:len(blocks)-6], "xz after a block": blocks[:len(oneBlock)-indexAndFooter(oneBlock)],
	} {
		r, err := Open(t.Context(), "-", bytes.NewReader(packed))
		if err != nil {
			t.Fatal(name, err)
		}
		l := NewLines(r, "f")
		for l.Next() {
		}
		if err := l.Err(); err == nil || !strings.HasSuffix(err.Error(), "the compressed file was cut short") {
			t.Errorf("%s: error is %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So is what breaks off before there is anything to tell its kind by, or is damaged.
func TestCutBeforeItsKind(t *testing.T) {
	text := strings.Repeat("line\n", 5000)
	for name, packed := range map[string][]byte{"gzip": gzipped(t, text)[:20], "zstd": zstdPacked(t, text)[:20], "xz": xzPacked(t, text, 1<<16)[:40], "bzip2": []byte(helloBzip2[:20])} {
		r, err := Open(t.Context(), "-", bytes.NewReader(packed))
		if err == nil {
			_, _, err = Peek(r)
		}
		if err == nil || err.Error() != "the compressed file was cut short" {
			t.Errorf("%s: %v", name, err)
		}
		packed[len(packed)-12] ^= 0xff
		r, err = Open(t.Context(), "-", bytes.NewReader(packed))
		if err == nil {
			_, _, err = Peek(r)
		}
		if err == nil || !strings.Contains(err.Error(), "the compressed file ") {
			t.Errorf("%s, damaged: %v", name, err)
		}
	}
	_, err := Open(t.Context(), "-", bytes.NewReader(gzipped(t, text)[:5]))
	if err == nil || err.Error() != "-: the compressed file was cut short" {
		t.Errorf("cut in its header: %v", err)
	}
}

// indexAndFooter is how many bytes follow the blocks of an xz file.
func indexAndFooter(packed []byte) int {
	const footer = 12
	return 4*(int(binary.LittleEndian.Uint32(packed[len(packed)-8:]))+1) + footer
}

// What asks for more memory than any tool gives by itself is refused before it gets any.
func TestUnpackingTakesLittleMemory(t *testing.T) {
	huge := xzPacked(t, "hello\n", 1<<16)
	huge[16] = 40 // the dictionary of the first block: 4 GiB
	if n := xzWindow(bufio.NewReader(bytes.NewReader(huge))); n != 4<<30 {
		t.Fatalf("the dictionary is one of %d bytes", n)
	}
	_, err := Open(t.Context(), "-", bytes.NewReader(huge))
	if err == nil || !strings.Contains(err.Error(), "it needs 4096 MiB to unpack") {
		t.Errorf("xz: %v", err)
	}
	wide := packedBy(t, strings.Repeat("hello\n", 1<<20), func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithWindowSize(256<<20))
	})
	r, err := Open(t.Context(), "-", bytes.NewReader(wide))
	if err == nil {
		_, err = io.ReadAll(r)
	}
	if err == nil || !strings.Contains(err.Error(), "window size exceeded") {
		t.Errorf("zstd: %v", err)
	}
}

// The programs that administrators pack with, at whatever level, are understood.
func TestPackedByTheirPrograms(t *testing.T) {
	text := strings.Repeat("Switch 36 \"S-0002c90200000001\"\n", 1000)
	for _, command := range []string{"xz -0", "xz -9", "xz -T2 --block-size=4096", "xz --check=none", "zstd -q -1", "zstd -q -19", "zstd -q --ultra -22 --long=27", "gzip -9", "bzip2 -9"} {
		words := strings.Fields(command)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%s is not installed", words[0])
			continue
		}
		cmd := exec.Command(words[0], append(words[1:], "-c")...)
		cmd.Stdin = strings.NewReader(text)
		packed, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		name := filepath.Join(t.TempDir(), "dump")
		if err := os.WriteFile(name, packed, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), name, nil)
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", command, len(got), err)
		}
		r.Close()
	}
}

func TestPlainName(t *testing.T) {
	for name, want := range map[string]string{"a.lst": "a.lst", "a.lst.gz": "a.lst", "a.zst": "a", "a.xz": "a", "a.bz2": "a", "a.gz.gz": "a.gz"} {
		if got := PlainName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
