package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
)

const (
	// clientQPS and clientBurst of the supervisor's own client.
	clientQPS, clientBurst = 200, 400
	// readyPause spaces the looks at a child that starts, and probeLimit bounds each.
	readyPause, probeLimit = 50 * time.Millisecond, 5 * time.Second
	// silence is the time between two reports of the same part of the start.
	silence = time.Second
	// startDeaths bounds how often a child may die before it first serves. It is more than one, because a port can be released late.
	startDeaths = 3
)

// part runs one part of the start. It reports that the part begins, and that it continues, until do returns.
func (w *World) part(doing string, do func() error) error {
	w.progress(doing)
	ended, reporterDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(reporterDone)
		tick := time.NewTicker(silence)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.reportRestarts()
				w.progress(doing)
			case <-ended:
				return
			}
		}
	}()
	err := do()
	close(ended)
	<-reporterDone
	w.reportRestarts()
	return err
}

// reportRestarts reports the children that were started again since the last look.
func (w *World) reportRestarts() {
	for _, c := range w.children {
		s := c.snapshot()
		if s.Starts > max(w.reportedStarts[s.Name], 1) {
			w.progress(s.Restart())
		}
		w.reportedStarts[s.Name] = s.Starts
	}
}

// until starts a part and returns when a probe succeeds. It returns an error when ctx ends, when the world fails, or when a child dies
// repeatedly.
func (w *World) until(ctx context.Context, what string, probe func(ctx context.Context) error) error {
	return w.part("Starting "+what, func() error { return w.poll(ctx, what, probe) })
}

// poll returns when a probe succeeds, or with an error as until does.
func (w *World) poll(ctx context.Context, what string, probe func(ctx context.Context) error) error {
	pause := time.NewTicker(readyPause)
	defer pause.Stop()
	for {
		limited, cancel := context.WithTimeout(ctx, probeLimit)
		err := probe(limited)
		cancel()
		if err == nil {
			return nil
		}
		if err := w.dying(); err != nil {
			return fmt.Errorf("start %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w; last seen: %w", what, context.Cause(ctx), err)
		case <-w.done:
			return fmt.Errorf("start %s: %w", what, w.err)
		case <-pause.C:
		}
	}
}

// dying reports a child that was restarted too often during the start.
func (w *World) dying() error {
	for _, c := range w.children {
		if s := c.snapshot(); s.Starts > startDeaths {
			return fmt.Errorf("%s was started %d times; it said: %s (its log is %s)", s.Name, s.Starts, lastLine(s.Log), s.Log)
		}
	}
	return nil
}

func (w *World) apiReady(ctx context.Context) error {
	config, err := w.readConfig()
	if err != nil {
		return err
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := c.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return err
	}
	w.config = config
	return nil
}

func (w *World) cloudsReady(ctx context.Context) error {
	for _, cloud := range w.clouds {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", Loopback(w.places[cloud]))
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) controllersReady(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+Loopback(w.places[healthPlace])+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}
