package reading

import (
	"bytes"
	"io"
	"regexp"
)

// farthestRun is how far into a file what says of which run it is may be.
const farthestRun = 64 << 10

// RunOf is when the run of ibdiagnet began that wrote a file, in the words of the file; empty: it does not say. All
// files of a run have the same words, each in its head, the ibdiagnet2.db_csv in its first table:
//
//	# Running timestamp : 2026-03-31 23:43:18 UTC +0000
//
//	START_RUN_INFO
//	IBDIAGNET_Version,…,Date,Args
//	"IBDIAGNET 2.10.0",…,"2026-03-31 23:43:18 UTC +0000"," -r"
//	END_RUN_INFO
func RunOf(r io.Reader) string {
	lines := NewLines(io.LimitReader(r, farthestRun), "")
	table := false
	for lines.Next() {
		line := bytes.TrimSpace(lines.Text())
		switch comment, ok := bytes.CutPrefix(line, []byte("#")); {
		case ok:
			if key, value, _ := bytes.Cut(comment, []byte(":")); timestamp.Match(bytes.TrimSpace(key)) {
				return string(bytes.Trim(value, ` "`))
			}
		case table && !bytes.HasPrefix(line, []byte("END_")):
			if m := date.FindSubmatch(line); m != nil {
				return string(m[1])
			}
		case bytes.Equal(line, []byte("START_RUN_INFO")):
			table = true
		case len(line) > 0:
			return ""
		}
	}
	return "" // or what reading the file as a whole will say
}

var (
	timestamp = regexp.MustCompile(`(?i)^(running )?timestamp$`)
	date      = regexp.MustCompile(`"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^"]*)"`)
)
