package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/tree"
)

const (
	// settleTime gathers the changes of one pass, which come one after the other.
	settleTime = 200 * time.Millisecond
	// staleTime bounds how long an error of the watch is shown. A watch that fails is tried again within it.
	staleTime = time.Minute
)

// follow shows the tree whenever it changes, until ctx ends.
func (t *treeViewer) follow(ctx context.Context, at found, request tree.Request) (err error) {
	klog.LogToStderr(false) // a line of a log in the midst of the tree could not be read
	klog.SetOutput(io.Discard)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch, failures, err := startWatch(ctx, cancel, at, request.Namespace)
	if err != nil {
		return err
	}
	request.Client = watch
	on := screen.New(t.out)
	keys, restore := on.Keys(ctx, t.in)
	defer func() { err = errors.Join(err, restore()) }()
	var stale staleness
	for {
		if err := t.show(ctx, on, request, stale.text(time.Now())); err != nil {
			return ended(ctx, err)
		}
		select {
		case <-watch.Changed():
			pause(ctx, settleTime)
		case failure := <-failures:
			stale = staleness{at: time.Now(), err: failure}
		case <-time.After(staleTime): // an old failure is not shown any more
		case key := <-keys:
			on.Scroll(key)
		case <-ctx.Done():
			return ended(ctx, ctx.Err())
		}
	}
}

// startWatch watches a namespace until ctx ends, which it cancels if the watch ends or is not allowed. Other failures, which are tried
// again, arrive in the channel.
func startWatch(ctx context.Context, cancel context.CancelCauseFunc, at found, namespace string) (*view.Watch, <-chan error, error) {
	failures := make(chan error, 1)
	watch, err := view.NewWatch(at.config, view.WatchOptions{Namespace: namespace, Failed: func(err error) {
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			cancel(fmt.Errorf("watch the management cluster: %w", err))
		}
		select {
		case failures <- at.reach(err):
		default: // one is enough for the screen
		}
	}})
	if err != nil {
		return nil, nil, err
	}
	go func() { // ends with ctx
		if err := watch.Start(ctx); err != nil {
			cancel(err)
		}
	}()
	return watch, failures, nil
}

// show reads the tree and brings the screen up to date, with a note below it.
func (t *treeViewer) show(ctx context.Context, on *screen.Screen, request tree.Request, note string) error {
	objects, err := tree.Read(ctx, request)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.write(&text, tree.Build(objects), on); err != nil {
		return err
	}
	if note != "" && t.output == "text" {
		for _, line := range view.Wrap(note, on.Columns(), "  ", 3) {
			text.WriteString(line + "\n")
		}
	}
	return on.ShowText(text.String())
}

// staleness is the last failure of a watch.
type staleness struct {
	at  time.Time
	err error
}

// text returns the note below a tree that may be out of date; empty if it is not.
func (s staleness) text(now time.Time) string {
	if s.err == nil || now.Sub(s.at) >= staleTime {
		return ""
	}
	return fmt.Sprintf("Not up to date: the watch failed at %s and is tried again: %v", s.at.Format(time.TimeOnly), s.err)
}

// pause waits for d, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ended returns why a watch ended: nothing for Ctrl-C.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
