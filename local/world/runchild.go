package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// endLimit bounds the time in which a child may stop after the request to. What it has not removed by then it removes at its next start, as
// after a crash.
const endLimit = 10 * time.Second

// RunChild runs the body of a child until it fails or is asked to stop: by ctx, or by the end of its standard input, which means that the
// supervisor has ended. Ctrl-C and the hangup of a terminal reach every process of it; only the supervisor handles them.
func RunChild(ctx context.Context, name string, dir Dir, body func(ctx context.Context) error) error {
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	ctrl.SetLogger(klog.Background())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	lock, err := dir.acquire(name, lockLimit)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	done := make(chan error, 1)
	go func() { done <- body(ctx) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(endLimit):
			err = fmt.Errorf("%s did not end within %v of being told to", name, endLimit)
		}
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}
