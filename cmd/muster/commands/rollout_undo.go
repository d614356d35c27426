package commands

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/view/rollout"
	"github.com/muster-project/muster/view/tree"
)

func rolloutAbortCommand() *cobra.Command {
	return (&rolloutEditor{}).command(&cobra.Command{
		Use:   "abort KIND/NAME",
		Short: "Return to the last template whose rollout ended",
		Long: `Abort the rollout of a pool: its machines are replaced by those of the last template whose rollout ended. The
specification stays as it is. The pool stays there until you retry, or change the template.`,
		Example: `  muster rollout abort machinepool/workers`,
	}, 0, one(rollout.Pool.Abort))
}

func rolloutRetryCommand() *cobra.Command {
	return (&rolloutEditor{}).command(&cobra.Command{
		Use:   "retry KIND/NAME",
		Short: "Begin a rollout again that was rolled back or aborted",
		Long: `Begin a rollout again that was rolled back or aborted, to the template of the specification. If it fails again,
it halts: it is not rolled back a second time.`,
		Example: `  muster rollout retry machinepool/workers`,
	}, 0, one(rollout.Pool.Retry))
}

func rolloutUndoCommand() *cobra.Command {
	to := int64(0)
	cmd := (&rolloutEditor{}).command(&cobra.Command{
		Use:   "undo KIND/NAME [--to REVISION]",
		Short: "Give a pool the template of a former revision",
		Long: `Write the template of a former revision into the specification of a pool: into the infrastructure object, and, if the
version of Kubernetes differs, into the MachinePool, which is a second change. The rollout begins as after any edit. muster rollout history lists the revisions.`,
		Example: `  muster rollout undo machinepool/workers
  muster rollout undo machinepool/workers --to 3`,
	}, 0, func(ctx context.Context, c client.Client, p rollout.Pool, _ []string) ([]rollout.Edit, error) {
		list, err := p.Revisions(ctx, c)
		if err != nil {
			return nil, err
		}
		return p.Undo(list, to)
	})
	cmd.Flags().Int64Var(&to, "to", 0, "Number of the revision. If unspecified, the newest that differs from the present template.")
	return cmd
}

// rolloutHistorian is one run of "muster rollout history".
type rolloutHistorian struct {
	management
	output string
	out    io.Writer
}

func rolloutHistoryCommand() *cobra.Command {
	h := &rolloutHistorian{}
	cmd := &cobra.Command{
		Use:   "history KIND/NAME",
		Short: "List the templates of a pool whose rollouts ended",
		Long: `List the templates of a pool whose rollouts ended, the newest first, with the fields in which each differs from the one
before. The last ten are kept.`,
		Example: `  muster rollout history machinepool/workers`,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			h.out = cmd.OutOrStdout()
			return h.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	h.addNamespace(f, "Namespace of the pool.")
	h.addFlags(f)
	f.StringVarP(&h.output, "output", "o", "text", "Output format: text or json.")
	return cmd
}

// run reads the revisions, and prints them.
func (h *rolloutHistorian) run(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	if err := textOrJSON(h.output); err != nil {
		return err
	}
	kind, name, err := named(args)
	if err != nil {
		return err
	}
	at, err := h.find()
	if err != nil {
		return err
	}
	c, err := at.client()
	if err != nil {
		return err
	}
	p, err := rollout.Read(ctx, tree.Request{Client: c, Namespace: at.namespace, Kind: kind, Name: name})
	if err != nil {
		return at.reach(err)
	}
	list, err := p.Revisions(ctx, c)
	if err != nil {
		return at.reach(err)
	}
	history, err := rollout.HistoryOf(p, list)
	if err != nil {
		return fmt.Errorf("compare the revisions: %w", err)
	}
	if h.output == "json" {
		return rollout.JSON(h.out, history)
	}
	return rollout.HistoryText(h.out, history, time.Now(), screen.New(h.out).Terminal())
}
