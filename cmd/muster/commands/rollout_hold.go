package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/view/rollout"
	"github.com/muster-project/muster/view/tree"
)

// workloadKubeconfig stands for the user's kubeconfig of the workload cluster in printed commands.
const workloadKubeconfig = "workload.kubeconfig"

// nodeEditor makes one change of a Node in a workload cluster.
type nodeEditor struct {
	rolloutEditor
	cluster string
	// connect makes a client of the workload cluster.
	connect func(management client.Client) preview.Connect
}

// command adds to a command what all changes of a Node have in common.
func (n *nodeEditor) command(cmd *cobra.Command, edit func(*corev1.Node) (rollout.Edit, error)) *cobra.Command {
	n.connect = preview.ConnectBySecret
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n.out = cmd.OutOrStdout()
		ctrl.SetLogger(klog.Background())
		at, c, err := n.reachCluster()
		if err != nil {
			return err
		}
		return at.reach(n.run(cmd.Context(), c, at.namespace, args[0], edit))
	}
	n.addEditFlags(cmd.Flags())
	cmd.Flags().StringVar(&n.cluster, "cluster", "", "Cluster of the Node. If unspecified, it is found by the pools of the namespace, which "+
		"list at most 250 of their machines.")
	return cmd
}

// run finds the Node, and makes the change.
func (n *nodeEditor) run(ctx context.Context, c client.Client, namespace, name string,
	edit func(*corev1.Node) (rollout.Edit, error)) error {
	objects, err := tree.Read(ctx, tree.Request{Client: c, Namespace: namespace})
	if err != nil {
		return err
	}
	m, err := rollout.FindMachine(objects, namespace, n.cluster, name)
	if err != nil {
		return err
	}
	workload, err := n.connect(c)(ctx, m.Cluster)
	if err != nil {
		return fmt.Errorf("connect to Cluster %s: %w", m.Cluster, err)
	}
	node := &corev1.Node{}
	if err := workload.Get(ctx, client.ObjectKey{Name: m.Node}, node); err != nil {
		return fmt.Errorf("read Node %s of Cluster %s: %w", m.Node, m.Cluster, err)
	}
	e, err := edit(node)
	if err != nil {
		return err
	}
	return n.apply(ctx, workload, e, []string{"kubectl", "--kubeconfig", workloadKubeconfig})
}

func rolloutHoldCommand() *cobra.Command {
	until := ""
	cmd := (&nodeEditor{}).command(&cobra.Command{
		Use:   "hold NODE|MACHINE [--until TIME]",
		Short: "Keep a machine from being replaced",
		Long: `Keep a machine from being replaced while it serves, by an annotation of its Node in the workload cluster. The machine is named
by its Node, its Machine or its instance. The command connects with the kubeconfig Secret of the Cluster, which you must be allowed
to read. The printed command names the file ` + workloadKubeconfig + `, which stands for your own kubeconfig of that cluster.`,
		Example: `  muster rollout hold ip-10-0-0-4
  muster rollout hold ip-10-0-0-4 --until 12h
  muster rollout hold i-0a3538c9624e2b89b --until 2026-12-01T06:00:00Z`,
	}, func(node *corev1.Node) (rollout.Edit, error) {
		end, err := rollout.Until(until, time.Now())
		if err != nil {
			return rollout.Edit{}, err
		}
		return rollout.Hold(node, end)
	})
	cmd.Flags().StringVar(&until, "until", "", "End of the hold: a duration such as 12h, or a time (RFC 3339). If unspecified, it has no end.")
	return cmd
}

func rolloutReleaseCommand() *cobra.Command {
	return (&nodeEditor{}).command(&cobra.Command{
		Use:     "release NODE|MACHINE",
		Short:   "End the hold of a machine",
		Long:    `End the hold of a machine, so that it may be replaced again. See muster rollout hold.`,
		Example: `  muster rollout release ip-10-0-0-4`,
	}, rollout.Release)
}
