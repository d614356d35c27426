package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/rollout"
	"github.com/muster-project/muster/view/tree"
)

// haltedCode is the exit code of "muster rollout status" for a rollout that is halted or was rolled back.
const haltedCode exitCode = 1

// rolloutViewer is one run of "muster rollout status".
type rolloutViewer struct {
	management
	output  string
	watch   bool
	timeout time.Duration
	in      io.Reader
	out     io.Writer
}

func rolloutStatusCommand() *cobra.Command {
	v := &rolloutViewer{}
	cmd := &cobra.Command{
		Use:   "status KIND/NAME [--watch]",
		Short: "Show how far the rollout of a pool is",
		Long: `Show the rollout of a pool: its state, a bar for each wave, how many machines are replaced, and what it waits for. With
--watch, follow it until it ends.

Exit codes: 0 if the rollout has ended, or there is none, and without --watch while it goes on; 1 if it is halted or was rolled back, if the
time of --timeout is over, or if it could not be read.`,
		Example: `  muster rollout status machinepool/workers
  muster rollout status machinepool/workers --watch --timeout 30m`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.in, v.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return v.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	v.addNamespace(f, "Namespace of the pool.")
	v.addFlags(f)
	f.BoolVarP(&v.watch, "watch", "w", false, "Follow the rollout until it ends.")
	f.DurationVar(&v.timeout, "timeout", 0, "Time after which --watch gives up. If unspecified, it does not.")
	f.StringVarP(&v.output, "output", "o", "text", "Output format: text or json.")
	return cmd
}

// run shows the rollout once, or until it ends.
func (v *rolloutViewer) run(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	if err := textOrJSON(v.output); err != nil {
		return err
	}
	kind, name, err := named(args)
	if err != nil {
		return err
	}
	at, err := v.find()
	if err != nil {
		return err
	}
	c, err := at.client()
	if err != nil {
		return err
	}
	request := tree.Request{Client: c, Namespace: at.namespace, Kind: kind, Name: name}
	p, err := rollout.Read(ctx, request) // also before a watch, which would try again and again what is refused
	if err != nil {
		return at.reach(err)
	}
	on, s := screen.New(v.out), rollout.StatusOf(p)
	if v.watch && !s.Over() {
		if s, err = v.follow(ctx, at, request, on); err != nil {
			return err
		}
	} else if err := v.write(v.out, s, on); err != nil {
		return err
	}
	return outcome(s, v.watch)
}

// outcome returns the exit code of a status that was shown once, or watched.
func outcome(s rollout.Status, watched bool) error {
	switch {
	case s.Failed():
		return haltedCode
	case watched && !s.Over():
		return errors.New("interrupted before the rollout ended")
	}
	return nil
}

// follow shows the rollout until it is over, and returns its last state.
func (v *rolloutViewer) follow(ctx context.Context, at found, request tree.Request, on *screen.Screen) (s rollout.Status, err error) {
	if v.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, v.timeout, fmt.Errorf("the rollout has not ended within %v", v.timeout))
		defer cancel()
	}
	f := follower{in: v.in, on: on, namespace: request.Namespace, show: func(ctx context.Context, r *view.Watch, note string) (bool, error) {
		request.Client = r
		p, err := rollout.Read(ctx, request)
		if err != nil {
			return false, err
		}
		s = rollout.StatusOf(p)
		return s.Over(), v.show(s, on, note)
	}}
	return s, f.follow(ctx, at)
}

// show brings the screen up to date, with a note below it.
func (v *rolloutViewer) show(s rollout.Status, on *screen.Screen, note string) error {
	var text strings.Builder
	if err := v.write(&text, s, on); err != nil {
		return err
	}
	if v.output == "text" {
		text.WriteString(noteLines(note, on))
	}
	return on.ShowText(text.String())
}

// write writes a status in the requested format, for the terminal that the screen is on.
func (v *rolloutViewer) write(w io.Writer, s rollout.Status, on *screen.Screen) error {
	if v.output == "json" {
		return rollout.JSON(w, s)
	}
	return rollout.Text(w, s, on.Terminal())
}
