package commands

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/view/rollout"
	"github.com/muster-project/muster/view/tree"
)

// rolloutCommand holds the subcommands that show and control rollouts.
func rolloutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rollout",
		Short: "Show and control the rollout of a pool",
		Long: `Show and control how the machines of a pool are replaced. Each subcommand but status and history makes one
change of one object (undo may make two), and prints the kubectl command that makes the same change. With --dry-run, it prints the
command and changes nothing.

docs/rollouts.md describes rollouts by task.`,
		Args: cobra.NoArgs,
		// A command that cannot run prints its help for any argument and ends with 0, a misspelt subcommand included.
		RunE: func(cmd *cobra.Command, _ []string) error { return helpOrVersion(cmd, false) },
	}
	cmd.AddCommand(rolloutStatusCommand(), rolloutHistoryCommand(), rolloutPauseCommand(), rolloutResumeCommand(), rolloutRestartCommand(),
		rolloutPromoteCommand(), rolloutAbortCommand(), rolloutUndoCommand(), rolloutRetryCommand(), rolloutApproveCommand(),
		rolloutHoldCommand(), rolloutReleaseCommand())
	return cmd
}

// rolloutEditor makes one change of a pool's rollout.
type rolloutEditor struct {
	management
	dryRun bool
	out    io.Writer
}

// addEditFlags adds the flags that all changes have.
func (r *rolloutEditor) addEditFlags(f *pflag.FlagSet) {
	f.BoolVar(&r.dryRun, "dry-run", false, "Print the kubectl command, and change nothing.")
	r.addNamespace(f, "Namespace of the pool.")
	r.addFlags(f)
}

// poolEdit returns the changes of a pool. The client reads what else is needed.
type poolEdit func(ctx context.Context, c client.Client, p rollout.Pool, args []string) ([]rollout.Edit, error)

// one makes a poolEdit of a single change that needs nothing else.
func one(edit func(rollout.Pool) (rollout.Edit, error)) poolEdit {
	return func(_ context.Context, _ client.Client, p rollout.Pool, _ []string) ([]rollout.Edit, error) {
		return single(edit(p))
	}
}

// single returns a single change.
func single(e rollout.Edit, err error) ([]rollout.Edit, error) { return []rollout.Edit{e}, err }

// command adds to a command what all changes of a pool have in common. KIND and NAME may be two arguments; others follow.
func (r *rolloutEditor) command(cmd *cobra.Command, others int, edit poolEdit) *cobra.Command {
	cmd.Args = cobra.RangeArgs(1+others, 2+others)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.out = cmd.OutOrStdout()
		last := len(args) - others
		return r.run(cmd.Context(), args[:last], args[last:], edit)
	}
	r.addEditFlags(cmd.Flags())
	return cmd
}

// run reads the pool, and makes the change.
func (r *rolloutEditor) run(ctx context.Context, args, others []string, edit poolEdit) error {
	ctrl.SetLogger(klog.Background())
	kind, name, err := named(args)
	if err != nil {
		return err
	}
	at, c, err := r.reachCluster()
	if err != nil {
		return err
	}
	p, err := rollout.Read(ctx, tree.Request{Client: c, Namespace: at.namespace, Kind: kind, Name: name})
	if err != nil {
		return at.reach(err)
	}
	edits, err := edit(ctx, c, p, others)
	if err != nil {
		return at.reach(err)
	}
	for _, e := range edits {
		if err := r.apply(ctx, c, e, r.kubectl()); err != nil {
			return err
		}
	}
	return nil
}

// reachCluster finds the management cluster.
func (r *rolloutEditor) reachCluster() (found, client.Client, error) {
	at, err := r.find()
	if err != nil {
		return at, nil, err
	}
	c, err := at.client()
	return at, c, err
}

// kubectl returns the begin of a kubectl command for the same management cluster.
func (m *management) kubectl() []string {
	command := []string{"kubectl"}
	if file := m.file(); file != "" {
		command = append(command, "--kubeconfig", file)
	}
	if m.kubeContext != "" {
		command = append(command, "--context", m.kubeContext)
	}
	return command
}

// apply prints the kubectl command of a change, makes the change, and prints what it does.
func (r *rolloutEditor) apply(ctx context.Context, c client.Client, e rollout.Edit, kubectl []string) error {
	var line strings.Builder
	for _, word := range append(kubectl, e.Kubectl...) {
		line.WriteString(quoted(word) + " ")
	}
	if _, err := fmt.Fprintln(r.out, strings.TrimSuffix(line.String(), " ")); err != nil {
		return fmt.Errorf("write the command: %w", err)
	}
	if r.dryRun {
		return nil
	}
	if err := c.Patch(ctx, e.Object, e.Patch(), client.FieldOwner("muster")); err != nil {
		return fmt.Errorf("change %s %s: %w", e.Object.GetKind(), e.Object.GetName(), err)
	}
	if _, err := fmt.Fprintln(r.out, e.Says); err != nil {
		return fmt.Errorf("write the outcome: %w", err)
	}
	return nil
}

func rolloutPauseCommand() *cobra.Command {
	return (&rolloutEditor{}).command(&cobra.Command{
		Use:     "pause KIND/NAME",
		Short:   "Pause the rollout of a pool",
		Long:    `Pause the rollout of a pool, and those that come: no machine is replaced until the rollout is resumed.`,
		Example: `  muster rollout pause machinepool/workers`,
	}, 0, one(rollout.Pool.Pause))
}

func rolloutResumeCommand() *cobra.Command {
	return (&rolloutEditor{}).command(&cobra.Command{
		Use:     "resume KIND/NAME",
		Short:   "Resume a rollout that is paused",
		Long:    `Resume a rollout that is paused, whether the MachinePool or its infrastructure object has the annotation.`,
		Example: `  muster rollout resume machinepool/workers`,
	}, 0, one(rollout.Pool.Resume))
}

func rolloutRestartCommand() *cobra.Command {
	reason := ""
	cmd := (&rolloutEditor{}).command(&cobra.Command{
		Use:   "restart KIND/NAME [--reason TEXT]",
		Short: "Replace every machine of a pool, once",
		Long: `Replace every machine of a pool that exists now, within the limits of its strategy and its rollout policies. Machines that are made
later are not replaced.`,
		Example: `  muster rollout restart machinepool/workers --reason 'new kernel'`,
	}, 0, one(func(p rollout.Pool) (rollout.Edit, error) { return p.Restart(reason, time.Now()) }))
	cmd.Flags().StringVar(&reason, "reason", "", "Reason that conditions and events show. If unspecified, the command's name and the time.")
	return cmd
}

func rolloutPromoteCommand() *cobra.Command {
	full := false
	cmd := (&rolloutEditor{}).command(&cobra.Command{
		Use:   "promote KIND/NAME [--full]",
		Short: "Skip the rest of a soak, or a gate",
		Long: `Skip what the rollout of a pool rests for: the soak after the present wave, or the gates that the next wave waits for. With --full,
skip all soaks and gates that are left of this rollout. Windows, exclusions and budgets of rollout policies hold.`,
		Example: `  muster rollout promote machinepool/workers
  muster rollout promote machinepool/workers --full`,
	}, 0, one(func(p rollout.Pool) (rollout.Edit, error) { return p.Promote(full) }))
	cmd.Flags().BoolVar(&full, "full", false, "Skip all soaks and gates that are left of this rollout.")
	return cmd
}

func rolloutApproveCommand() *cobra.Command {
	return (&rolloutEditor{}).command(&cobra.Command{
		Use:   "approve KIND/NAME GATE",
		Short: "Approve a gate for the rollout that a pool is in",
		Long: `Approve a gate of a rollout policy for the rollout that the pool is in. The next rollout waits for another approval. GATE is the
name of a gate in a policy that selects the pool.`,
		Example: `  muster rollout approve machinepool/workers go`,
	}, 1, func(ctx context.Context, c client.Client, p rollout.Pool, args []string) ([]rollout.Edit, error) {
		e, err := p.Policies(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("find the gates of the pool: %w", err)
		}
		return single(p.Approve(args[0], e.Gates))
	})
}
