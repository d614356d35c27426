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

// treeViewer is one run of "muster tree".
type treeViewer struct {
	management

	output            string
	everywhere, watch bool

	in  io.Reader
	out io.Writer
}

// treeCommand shows clusters with their pools and instances.
func treeCommand() *cobra.Command {
	t := &treeViewer{}
	cmd := &cobra.Command{
		Use:   "tree [KIND/NAME]",
		Short: "Show clusters, pools, instances, Machines and Nodes with their state",
		Long: `Show the clusters of a namespace with their pools, infrastructure objects, instances, Machines and Nodes as a tree. Objects that
are not Ready are shown with the reason. KIND/NAME selects a Cluster, a MachinePool or its infrastructure object; short names are
accepted. The command reads only the management cluster.

With --watch, the tree is shown again whenever it changes, until Ctrl-C. On a terminal it is redrawn in place; if it is longer than
the terminal, scroll it with the arrow keys, PgUp, PgDn, Home and End.`,
		Example: `  muster tree
  muster tree cluster/prod -n team-a --watch
  muster tree mp/workers -o json`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.in, t.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return t.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	t.addNamespace(f, "Namespace that is shown.")
	t.addFlags(f)
	f.BoolVarP(&t.everywhere, "all-namespaces", "A", false, "Show the clusters of all namespaces.")
	f.BoolVarP(&t.watch, "watch", "w", false, "Show the tree again whenever it changes.")
	f.StringVarP(&t.output, "output", "o", "text", "Output format: text or json.")
	return cmd
}

// run shows the tree once, or as it changes.
func (t *treeViewer) run(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	if err := textOrJSON(t.output); err != nil {
		return err
	}
	kind, name, err := named(args)
	if err != nil {
		return err
	}
	if name != "" && t.everywhere {
		return errors.New("--all-namespaces: want no name beside it, or the object's --namespace")
	}
	at, err := t.find()
	if err != nil {
		return err
	}
	c, err := at.client()
	if err != nil {
		return err
	}
	if t.everywhere {
		at.namespace = ""
	}
	request := tree.Request{Client: c, Namespace: at.namespace, Kind: kind, Name: name}
	objects, err := tree.Read(ctx, request) // also before a watch, which would try again and again what is refused
	switch {
	case err != nil:
		return at.reach(err)
	case t.watch:
		return t.follow(ctx, at, request)
	}
	return t.write(t.out, tree.Build(objects), screen.New(t.out))
}

// write writes a tree in the requested format, for the terminal that the screen is on.
func (t *treeViewer) write(w io.Writer, of tree.Tree, on *screen.Screen) error {
	if t.output == "json" {
		return tree.JSON(w, of)
	}
	return tree.Text(w, of, on.Terminal())
}
