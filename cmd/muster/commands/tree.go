package commands

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/view/tree"
)

// treeCommand shows clusters with their pools and instances.
func treeCommand() *cobra.Command {
	m, output, everywhere := &management{}, "text", false
	cmd := &cobra.Command{
		Use:   "tree [KIND/NAME]",
		Short: "Show clusters, pools, instances, Machines and Nodes with their state",
		Long: `Show the clusters of a namespace with their pools, infrastructure objects, instances, Machines and Nodes as a tree. Objects that
are not Ready are shown with the reason. KIND/NAME selects a Cluster, a MachinePool or its infrastructure object; short names are
accepted. The command reads only the management cluster.`,
		Example: `  muster tree
  muster tree cluster/prod -n team-a
  muster tree mp/workers -o json`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showTree(cmd.Context(), cmd.OutOrStdout(), m, args, output, everywhere)
		},
	}
	f := cmd.Flags()
	m.addNamespace(f, "namespace that is shown")
	m.addFlags(f)
	f.BoolVarP(&everywhere, "all-namespaces", "A", false, "Show the clusters of all namespaces.")
	f.StringVarP(&output, "output", "o", output, "Output format: text or json.")
	return cmd
}

func showTree(ctx context.Context, out io.Writer, m *management, args []string, output string, everywhere bool) error {
	ctrl.SetLogger(klog.Background())
	if err := textOrJSON(output); err != nil {
		return err
	}
	kind, name, err := named(args)
	if err != nil {
		return err
	}
	if name != "" && everywhere {
		return errors.New("--all-namespaces: want no name beside it, or the object's --namespace")
	}
	at, err := m.find()
	if err != nil {
		return err
	}
	c, err := at.client()
	if err != nil {
		return err
	}
	if everywhere {
		at.namespace = ""
	}
	objects, err := tree.Read(ctx, tree.Request{Client: c, Namespace: at.namespace, Kind: kind, Name: name})
	if err != nil {
		return at.reach(err)
	}
	if output == "json" {
		return tree.JSON(out, tree.Build(objects))
	}
	return tree.Text(out, tree.Build(objects), screen.New(out).Columns())
}
