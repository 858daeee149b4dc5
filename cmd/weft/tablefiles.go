package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// tableFiles is where finished tables are, and how well they have to fit.
type tableFiles struct {
	lfts, sl2vl, psl, lst string
	strict                bool
}

// strictUsage describes --strict.
const strictUsage = "refuse tables that do not fit the fabric exactly (exit code 3), in place of judging what fits"

// addTo declares the flags.
func (o *tableFiles) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.lfts, "lfts", "", "forwarding tables: opensm-lfts.dump, opensm.fdbs, dump_fts or ibroute output; or a folder with them and what follows")
	f.StringVar(&o.sl2vl, "sl2vl", "", "SL to VL maps of --lfts: opensm-sl2vl.dump or SLVL lines of ibdmchk (default: SL n on lane n)")
	f.StringVar(&o.psl, "psl", "", "service levels of the paths of --lfts, as ibdmchk reads them (default: SL 0 for all)")
	f.StringVar(&o.lst, "lst", "", "opensm-subnet.lst of the OpenSM that wrote --lfts, if its LIDs are others")
	f.BoolVar(&o.strict, "strict", false, strictUsage)
}

// settle checks the flags, and finds the files of a folder.
func (o *tableFiles) settle() error {
	if o.lfts == "" {
		for _, f := range []struct{ flag, value string }{{"sl2vl", o.sl2vl}, {"psl", o.psl}, {"lst", o.lst}} {
			if f.value != "" {
				return usage("--%s is about the tables of --lfts, which is not given", f.flag)
			}
		}
		if o.strict {
			return usage("--strict is about the tables of --lfts, which is not given")
		}
		return nil
	}
	if info, err := os.Stat(o.lfts); err != nil || !info.IsDir() {
		return nil // a file, or what opening it will say
	}
	in, err := tablesIn(o.lfts)
	if err != nil {
		return err
	}
	o.lfts = in.lfts
	for _, f := range []struct {
		to   *string
		find string
	}{{&o.sl2vl, in.sl2vl}, {&o.psl, in.psl}, {&o.lst, in.lst}} {
		if *f.to == "" {
			*f.to = f.find
		}
	}
	return nil
}

// tablesIn finds the files of a folder: OpenSM's, or weft's own.
func tablesIn(dir string) (tableFiles, error) {
	var o tableFiles
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return o, fmt.Errorf("%s: there is no such folder", dir)
	}
	find := func(names ...string) string {
		for _, name := range names {
			for _, packed := range []string{"", ".gz"} {
				if path := filepath.Join(dir, name+packed); !missing(path) {
					return path
				}
			}
		}
		return ""
	}
	o.lfts, o.lst = find("opensm-lfts.dump", lftFile, "opensm.fdbs"), find("opensm-subnet.lst")
	o.sl2vl, o.psl = find("opensm-sl2vl.dump", sl2vlFile), find(pslFile)
	if o.lfts == "" {
		return o, fmt.Errorf("%s: no forwarding tables in it (opensm-lfts.dump, %s or opensm.fdbs, plain or gzip)", dir, lftFile)
	}
	return o, nil
}
