//go:build linux

package cli

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// A text in UTF-16 is read as what it is, whatever it is for, and that is told to people and to
// programs, once.
func TestUTF16IsTold(t *testing.T) {
	dir := folderOfTables(t)
	p, stderr := process(t, dir, "export ring --to dot -o ring.dot")
	if err := p.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "pairs.csv"), []byte("host-0,host-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ring", "ring.dot", "pairs.csv", "tables/lfts.dump", "tables/sl2vl.dump", "tables/paths.psl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b := []byte("\xFF\xFE")
		for _, unit := range utf16.Encode([]rune(string(text))) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)+"16"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const note = "the text is in UTF-16, as PowerShell writes it, and is read as such"
	for args, file := range map[string]string{
		"info ring16":     "",
		"info ring.dot16": "",
		"verify ring16 --tables tables/lfts.dump":                              "",
		"verify ring --tables lfts.dump16":                                     "lfts.dump16: ",
		"verify ring --tables tables --sl2vl sl2vl.dump16":                     "sl2vl.dump16: ",
		"verify ring --tables tables --psl paths.psl16":                        "paths.psl16: ",
		"simulate ring --engine updn --traffic pairs.csv16":                    "pairs.csv16: ",
		"compare ring --tables now=tables --engine updn --traffic pairs.csv16": "pairs.csv16: ",
	} {
		var out bytes.Buffer
		p, stderr := process(t, dir, args)
		p.Stdout = &out
		if err := p.Run(); err != nil {
			t.Errorf("%s: %v: %s", args, err, stderr)
			continue
		}
		if told := strings.Count(stderr.String()+out.String(), note); told != 1 || file != "" && !strings.Contains(stderr.String(), "warning: "+file+note) {
			t.Errorf("%s tells it %d times: %s%s", args, told, stderr, &out)
		}
		p, _ = process(t, dir, args+" --json")
		text, err := p.Output()
		if told := strings.Count(string(text), `"`+file+note+`"`); err != nil || told != 1 {
			t.Errorf("%s --json: %v, and has it %d times", args, err, told)
		}
	}
}
