package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which weft this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := version()
			if asJSON {
				return a.printJSON(v)
			}
			_, err := fmt.Fprintf(a.stdout, "weft %s\n", v)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the version for programs")
	return c
}

type versionSummary struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

func (v versionSummary) String() string {
	return fmt.Sprintf("%s (%s, %s)", v.Version, v.Revision, v.Go)
}

// version reads what the Go tool noted when it built the program.
func version() versionSummary {
	v := versionSummary{Version: "devel", Revision: "unknown revision", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			v.Revision += ", modified"
		}
	}
	return v
}
