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
)

const (
	// settleTime gathers the changes of one pass, which come one after the other.
	settleTime = 200 * time.Millisecond
	// staleTime bounds how long an error of the watch is shown. A watch that fails is tried again within it.
	staleTime = time.Minute
)

// follower shows something of a namespace whenever it changes.
type follower struct {
	in io.Reader
	on *screen.Screen
	// namespace that is watched; empty for all.
	namespace string
	// show reads and shows it, with a note below it, and reports whether there is nothing more to follow.
	show func(ctx context.Context, r *view.Watch, note string) (last bool, err error)
}

// follow shows it until there is nothing more to follow, or until ctx ends, which is no error if a user ends it.
func (f follower) follow(ctx context.Context, at found) (err error) {
	klog.LogToStderr(false) // a line of a log in the midst of what is shown could not be read
	klog.SetOutput(io.Discard)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch, failures, err := startWatch(ctx, cancel, at, f.namespace)
	if err != nil {
		return err
	}
	keys, restore := f.on.Keys(ctx, f.in)
	defer func() { err = errors.Join(err, restore()) }()
	var stale staleness
	for {
		if last, err := f.show(ctx, watch, stale.text(time.Now())); err != nil || last {
			return ended(ctx, err)
		}
		select {
		case <-watch.Changed():
			pause(ctx, settleTime)
		case failure := <-failures:
			stale = staleness{at: time.Now(), err: failure}
		case <-time.After(staleTime): // an old failure is not shown any more
		case key := <-keys:
			f.on.Scroll(key)
		case <-ctx.Done():
			return ended(ctx, ctx.Err())
		}
	}
}

// noteLines returns a note as lines below what is shown; nothing if it is empty.
func noteLines(note string, on *screen.Screen) string {
	if note == "" {
		return ""
	}
	return strings.Join(view.Wrap(note, on.Columns(), "  ", 3), "\n") + "\n"
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
