package compat

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/tree"
)

// watchLimit bounds the wait for the event of a change; it takes milliseconds.
const watchLimit = time.Minute

// TestViewFollowsPools holds that the live table hears of every change of a pool and of its infrastructure.
func TestViewFollowsPools(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	w, err := view.NewPoolWatch(server, view.PoolWatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := view.NewWatch(server, view.WatchOptions{Namespace: ns})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), watchLimit)
	defer cancel()
	stopped := make(chan error, 2)
	go func() { stopped <- w.Start(ctx) }()
	go func() { stopped <- objects.Start(ctx) }()
	await := func(what string, is func(*view.Pool) bool) {
		t.Helper()
		for {
			pools, err := w.Pools(ctx)
			if err != nil {
				t.Fatalf("want %s: %v", what, err)
			}
			for _, p := range pools {
				if p.Namespace == ns && is(p) {
					return
				}
			}
			select {
			case <-w.Changed():
			case <-ctx.Done():
				t.Fatalf("want %s, got %v", what, pools)
			}
		}
	}
	mp, infra := object(t, ns, columns[0].manifest), object(t, ns, columns[1].manifest)
	if err := c.Create(ctx, mp); err != nil {
		t.Fatal(err)
	}
	await("a pool without infrastructure", func(p *view.Pool) bool { return p.Name == "p" && p.State == "" && len(p.Problems) == 1 })
	if err := c.Create(ctx, infra); err != nil {
		t.Fatal(err)
	}
	await("its infrastructure", func(p *view.Pool) bool { return len(p.Problems) == 0 })
	infra.Object["status"] = map[string]any{"state": "Creating", "ready": false, "replicas": int64(1)}
	if err := c.Status().Update(ctx, infra); err != nil {
		t.Fatal(err)
	}
	await("a change of its infrastructure", func(p *view.Pool) bool { return p.State == "Creating" })
	mp.Object["status"] = map[string]any{"replicas": int64(3), "readyReplicas": int64(3), "upToDateReplicas": int64(3),
		"observedGeneration": int64(1)}
	if err := c.Status().Update(ctx, mp); err != nil {
		t.Fatal(err)
	}
	await("a change of the pool", func(p *view.Pool) bool { return p.Settled })
	var text strings.Builder
	read, err := tree.Read(ctx, tree.Request{Client: objects, Namespace: ns, Kind: "mp", Name: "p"})
	if err == nil {
		err = tree.Text(&text, tree.Build(read), view.Terminal{})
	}
	if err != nil || !strings.Contains(text.String(), "MachinePool p ") || !strings.Contains(text.String(), "Creating") {
		t.Errorf("want the tree of the pool from a watch, got %v:\n%s", err, text.String())
	}
	cancel()
	for range cap(stopped) {
		if err := <-stopped; err != nil {
			t.Errorf("want a clean end, got %v", err)
		}
	}
}
