package lft

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/reading"
)

// failed is what ibroute says at the end of a table of which it did not get a block.
const failed = "/usr/sbin/ibroute: iberror: failed: dump tables: linear forwarding table get failed\n"

// A table at whose end the program that dumped it says that it failed is used up to there, and told; strictly it is
// refused.
func TestTableCutByAnError(t *testing.T) {
	t.Parallel()
	f := net(t)
	for name, tc := range map[string]struct {
		text, where, name string
	}{
		"first": {strings.Replace(dumpFts, "0x0006 001 : (Channel Adapter portguid 0x0000000000000308: 'h')\n0x0007 001 : (Channel Adapter portguid 0x0000000000000308: 'h')\n6 valid lids dumped \n", failed, 1), "dump:8: ", "a"},
		"last":  {strings.Replace(dumpFts, "0x0007 002 : (Channel Adapter portguid 0x0000000000000308: 'h')\n5 valid lids dumped \n", failed+"\n[root@head ~]# exit\n", 1), "dump:19: ", "b '"},
	} {
		d, err := Read(strings.NewReader(tc.text), "dump", f, Join{Lenient: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(d.Cut) != 1 || d.Cut[0].Switch != tc.name || d.Cut[0].Message != tc.where+strings.TrimSpace(failed) {
			t.Errorf("%s: %+v", name, d.Cut)
		}
		whole := d.Forwarding.Row(4)
		if got := d.Forwarding.Row(7); whole[0] != 2 || whole[1] != 1 || got[0] == 255 == (got[1] == 255) {
			t.Errorf("%s: LID 4 %v, LID 7 %v", name, whole, got)
		}
		if _, err := Read(strings.NewReader(tc.text), "dump", f, Join{}); err == nil || !strings.HasPrefix(err.Error(), tc.where+"the table of "+tc.name+" ends in an error of the program that dumped it: dump it again; the line: /usr/sbin/ibroute: iberror: ") {
			t.Errorf("%s, strictly: %v", name, err)
		}
	}
	if d, err := Read(strings.NewReader(failed+dumpFts+failed), "dump", f, Join{Lenient: true}); err != nil || d.Cut != nil {
		t.Errorf("before and behind whole tables: %v, %+v", err, d)
	}
	if _, err := Read(strings.NewReader(strings.Replace(dumpFts, "6 valid lids dumped \n", failed+"0x0007 001 : (x)\n", 1)), "dump", f, Join{Lenient: true}); err == nil || err.Error() != "dump:11: an entry outside of any table" {
		t.Errorf("entries behind it: %v", err)
	}
}

// parts are files with the texts.
func parts(texts ...string) (all []reading.Part) {
	for i, text := range texts {
		all = append(all, reading.Part{Name: "ibroute-" + string('1'+rune(i)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
	}
	return all
}

// A file for each switch is the same as all of them in one; errors name the file.
func TestFilesBySwitch(t *testing.T) {
	t.Parallel()
	f := net(t)
	want, err := Read(strings.NewReader(dumpFts), "dump", f, Join{})
	if err != nil {
		t.Fatal(err)
	}
	a, b, _ := strings.Cut(dumpFts, "\n\n")
	got, err := ReadFiles(parts(a+"\n", "[root@head ~]# ibroute 2\n"+b), f, Join{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v; %v", got, want, err)
	}
	for _, tc := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"cut short", []string{strings.TrimSuffix(a, "6 valid lids dumped "), b}, "ibroute-1:9: truncated: the table of a, from line 1 of ibroute-1 on, has no "},
		{"the last cut short", []string{a, strings.TrimSuffix(b, "5 valid lids dumped \n")}, "ibroute-2:8: truncated: the table of b ', from line 1 of ibroute-2 on, has no "},
		{"twice", []string{a, b, a}, "ibroute-3:1: a second table of a; the first begins in line 1 of ibroute-1"},
		{"other port GUID", []string{a, strings.Replace(b, "0300", "0388", 1)}, "ibroute-2:6: the port GUID of this LID is 0x0000000000000388 here, but 0x0000000000000300 in a table before (from line 6 of ibroute-1 on)"},
		{"other port", []string{a, strings.Replace(b, "0x0004 001", "0x0004 009", 1)}, "ibroute-2:6: b ' has 4 ports, not a port 9"},
	} {
		if _, err := ReadFiles(parts(tc.texts...), f, Join{}); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	d, err := ReadFiles(parts(a, strings.ReplaceAll(b, "guid 0x0000000000000200 (b)", "guid 0x0000000000000999 (z)")), f, Join{Lenient: true})
	if err != nil || len(d.Mismatches.UnknownSwitches) != 1 || d.Mismatches.UnknownSwitches[0].Line != 1 {
		t.Errorf("%v, %+v", err, d)
	}
}
