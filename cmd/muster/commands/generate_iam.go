package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/all"
)

// generateIAM is one run of "muster generate iam".
type generateIAM struct {
	cloud, format string
	// clouds are the names of the clouds, and by what each prints. of is the cloud of each flag that one cloud alone knows.
	clouds []string
	by     map[string]providers.Permissions
	of     map[string]string
}

// generateIAMCommand prints what the controllers' credentials must allow.
func generateIAMCommand() *cobra.Command {
	g := &generateIAM{by: map[string]providers.Permissions{}, of: map[string]string{}}
	about := []string{"Print the minimal policy or role for the credentials of the controllers, in the format of the cloud."}
	var examples []string
	cmd := &cobra.Command{
		Short: "Print the minimal policy or role for the credentials of the controllers",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return g.run(cmd, cmd.OutOrStdout(), cmd.ErrOrStderr()) },
	}
	f := cmd.Flags()
	for _, p := range all.Providers() {
		permissions, own := p.Permissions(), pflag.NewFlagSet(p.Name, pflag.ContinueOnError)
		permissions.AddFlags(own)
		own.VisitAll(func(flag *pflag.Flag) { g.of[flag.Name] = p.Name })
		f.AddFlagSet(own)
		g.clouds, g.by[p.Name] = append(g.clouds, p.Name), permissions
		about, examples = append(about, permissions.About), append(examples, permissions.Examples)
	}
	cmd.Use = "iam --cloud " + strings.Join(g.clouds, "|")
	cmd.Long, cmd.Example = strings.Join(about, "\n\n"), strings.Join(examples, "\n")
	f.StringVar(&g.cloud, "cloud", "", "Cloud whose policy or role is printed: "+strings.Join(g.clouds, ", ")+".")
	f.StringVarP(&g.format, "output", "o", "json", "Output format: json (the policy or role) or table (each action with the reason for it).")
	return cmd
}

func (g *generateIAM) run(cmd *cobra.Command, out, notes io.Writer) error {
	if g.format != "json" && g.format != "table" {
		return fmt.Errorf("--output: wanted json or table, found %q", g.format)
	}
	if !slices.Contains(g.clouds, g.cloud) {
		return fmt.Errorf("--cloud: wanted %s, found %q", strings.Join(g.clouds, " or "), g.cloud)
	}
	var foreign error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if of := g.of[flag.Name]; of != "" && of != g.cloud && foreign == nil {
			foreign = fmt.Errorf("--%s: means nothing with --cloud %s", flag.Name, g.cloud)
		}
	})
	if foreign != nil {
		return foreign
	}
	if g.format == "json" {
		return g.by[g.cloud].Document(out, notes)
	}
	actions, err := g.by[g.cloud].Actions()
	if err != nil {
		return err
	}
	return printActions(out, actions)
}

func printActions(out io.Writer, actions []providers.Action) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([]providers.Action{{Name: "ACTION", Why: "WHY", Where: "WHERE"}}, actions...) {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", row.Name, row.Why, row.Where); err != nil {
			return err
		}
	}
	return w.Flush()
}
