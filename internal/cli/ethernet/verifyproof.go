package ethernet

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/proof"
	"github.com/weft-fabric/weft/internal/proofchecker"
	"github.com/weft-fabric/weft/internal/tablefiles"
)

// prove writes the folder of the proof into to, if one is named, and has weft-proof judge the network, if --proof-checker is
// given; where there is a credit loop nothing is written or asked.
func (j *verifyJob) prove(cmd *cobra.Command, to string) error {
	program, err := cmd.Flags().GetString("proof-checker")
	if err != nil || !j.verdict.Free() {
		return err
	}
	if to != "" {
		if err := j.writeProof(cmd, to); err != nil {
			return err
		}
	}
	if !cmd.Flags().Changed("proof-checker") {
		return nil
	}
	j.proof, err = proof.Ask(cmd.Context(), program, func(ctx context.Context, path string) (*proofchecker.Answer, error) {
		return proofchecker.AskEthernet(ctx, path, j.n.Network, j.verdict.Certificate)
	})
	return err
}

// writeProof writes the folder; one that it wrote before is replaced.
func (j *verifyJob) writeProof(cmd *cobra.Command, to string) error {
	_, err := os.Lstat(filepath.Join(to, tablefiles.EthernetTablesFile))
	ours := err == nil // a proof is there
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 && !ours {
		return exit.Usage("%s is not empty, and holds no proof that --write-proof could replace; choose another folder", to)
	}
	err = output.WriteFolder(to, ours, func(d *output.Folder) error {
		return d.Write(cmd.Context(), proofchecker.EthernetFiles(j.n.Network, j.verdict.Certificate)...)
	})
	if err == nil {
		j.written = to
	}
	return err
}
