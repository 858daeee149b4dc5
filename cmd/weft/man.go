package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages that make install puts beside the program.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for every command into a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			return manPages(cmd.Root(), args[0])
		},
	}
}

// manPages writes the pages of a command and of those below it. Their date is
// today's, or that of SOURCE_DATE_EPOCH.
func manPages(c *cobra.Command, dir string) error {
	if !c.IsAvailableCommand() && c.HasParent() {
		return nil
	}
	for _, sub := range c.Commands() {
		if err := manPages(sub, dir); err != nil {
			return err
		}
	}
	c.DisableAutoGenTag = true
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Source: "weft " + version().Version, Manual: "weft"}
	if err := doc.GenMan(c, header, &page); err != nil {
		return err
	}
	// A default that is nothing says nothing.
	text := strings.NewReplacer("[=false]", "", `=""`, "", "=[]", "").Replace(page.String())
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)
}
