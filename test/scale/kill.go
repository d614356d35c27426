package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
)

const (
	// beganShare is the part of the pools, one of so many, whose bootstrap data is new when the controllers are killed.
	beganShare = 3
	// look is the time between two looks at the bootstrap data, and at the request logs.
	look = 2 * time.Second
	// controllersName is the process that is killed.
	controllersName = "controllers"
	// watched is the time for which pools are watched after the rotation.
	watched = time.Minute
	// rotates bounds the wait for a rotation. None comes while Muster renews the tokens.
	rotates = time.Minute
)

// crash creates the pools, lets them rest, edits a few one by one, and kills the controllers, in the middle of a rotation of bootstrap
// tokens if one comes. It scales one pool and deletes another as soon as the controllers run again, and waits for the end of the rotation.
func (b *bench) crash(ctx context.Context) error {
	if len(b.pools) < beganShare {
		return fmt.Errorf("want at least %d pools", beganShare)
	}
	for _, step := range []func(context.Context) error{b.create, b.idle, b.edit} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	data, err := b.bootstrapData(ctx)
	if err != nil {
		return err
	}
	b.watch.lost()
	b.say("waiting for a rotation of bootstrap tokens")
	if err := b.untilRotated(ctx, data, len(b.pools)/beganShare); err != nil {
		return err
	}
	before := b.usage()
	killed := time.Now()
	if err := errors.Join(b.calls.reset(ctx), b.killControllers()); err != nil {
		return err
	}
	b.say("killed the controllers")
	if err := b.untilServed(ctx); err != nil {
		return err
	}
	b.say("they run again after %s", time.Since(killed).Round(time.Second/10))
	scaled, removed := b.pools[0], b.pools[1]
	b.pools = slices.Delete(b.pools, 1, 2)
	requested := time.Now()
	if err := errors.Join(scaled.scale(ctx, b.client, scaled.replicas+1), removed.remove(ctx, b.client)); err != nil {
		return err
	}
	answers := make(chan string, 1)
	go func() {
		answers <- b.firstWrites(ctx, requested, scaled.name, removed.name)
	}()
	delete(data, removed.name)
	n, last, rotated := b.untilRotationEnds(ctx, data)
	b.say("%d of %d pools have new bootstrap data, the last one %s after the kill; the tokens of the others are kept alive", n, len(data),
		last.Sub(killed).Round(time.Second))
	b.say("%s", <-answers)
	if err := errors.Join(rotated, sleep(ctx, watched)); err != nil {
		return err
	}
	return b.note(ctx, phase{name: "kill", pools: len(b.pools), lasted: time.Since(killed), lost: b.watch.lost()}, before)
}

// killControllers ends the controllers at once, as a crash would. The world starts them again.
func (b *bench) killControllers() error {
	for _, c := range b.world.Children() {
		if c.Name == controllersName && c.PID > 0 {
			return syscall.Kill(c.PID, syscall.SIGKILL)
		}
	}
	return errors.New("the controllers do not run")
}

// untilServed waits until the controllers serve again.
func (b *bench) untilServed(ctx context.Context) error {
	for end := time.Now().Add(b.limit); ; {
		_, err := get(ctx, http.MethodGet, b.world.Metrics())
		if err == nil || time.Now().After(end) {
			return err
		}
		if err := sleep(ctx, look/10); err != nil {
			return err
		}
	}
}

// bootstrapData are hashes of the pools' bootstrap data, by name.
func (b *bench) bootstrapData(ctx context.Context) (map[string]uint64, error) {
	config := rest.CopyConfig(b.world.Config())
	config.QPS = -1
	typed, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return nil, err
	}
	list := &corev1.SecretList{}
	if err := typed.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	all := map[string]uint64{}
	for _, s := range list.Items {
		if value := s.Data["value"]; bytes.Contains(value, []byte("kubeadm join")) {
			h := fnv.New64a()
			_, _ = h.Write(value) // it never fails
			all[s.Name] = h.Sum64()
		}
	}
	return all, nil
}

// countRotated returns how many pools have other bootstrap data than before.
func (b *bench) countRotated(ctx context.Context, before map[string]uint64) (rotated int, err error) {
	now, err := b.bootstrapData(ctx)
	if err != nil {
		return 0, err
	}
	for name, hash := range before {
		if is, ok := now[name]; ok && is != hash {
			rotated++
		}
	}
	return rotated, nil
}

// untilRotationEnds waits until no further pool has got other bootstrap data for a while, and returns how many have, and when the last one
// got it. Pools whose token Muster keeps alive get none.
func (b *bench) untilRotationEnds(ctx context.Context, before map[string]uint64) (rotated int, last time.Time, err error) {
	for last = time.Now(); time.Since(last) < watched; {
		n, err := b.countRotated(ctx, before)
		if err != nil {
			return rotated, last, err
		}
		if n > rotated {
			rotated, last = n, time.Now()
		}
		if err := sleep(ctx, look); err != nil {
			return rotated, last, err
		}
	}
	return rotated, last, nil
}

// untilRotated waits until so many pools have other bootstrap data, or none comes.
func (b *bench) untilRotated(ctx context.Context, before map[string]uint64, most int) error {
	for end := time.Now().Add(rotates); ; {
		rotated, err := b.countRotated(ctx, before)
		if err != nil {
			return err
		}
		if rotated >= most || time.Now().After(end) {
			b.say("%d of %d pools have new bootstrap data", rotated, len(before))
			return nil
		}
		if err := sleep(ctx, look); err != nil {
			return err
		}
	}
}

// firstWrites reports the time of the first write to each of the pools' groups.
func (b *bench) firstWrites(ctx context.Context, requested time.Time, names ...string) string {
	found := b.wrote(ctx, requested, names...)
	var all []string
	for _, name := range names {
		text := name + " nothing"
		if c, ok := found[name]; ok {
			text = fmt.Sprintf("%s %s after %s", name, c.Action, c.At.Sub(requested).Round(time.Second/10))
		}
		all = append(all, text)
	}
	return "first writes: " + strings.Join(all, "; ")
}

// wrote waits until each of the pools' groups was written to and returns the first such calls, by the pool's name.
func (b *bench) wrote(ctx context.Context, since time.Time, names ...string) map[string]sim.Call {
	found := map[string]sim.Call{}
	for end := time.Now().Add(b.limit); len(found) < len(names) && time.Now().Before(end); {
		for _, c := range b.written(ctx, since) {
			for _, name := range names {
				if first, ok := found[name]; (!ok || c.At.Before(first.At)) && concerns(c, name) {
					found[name] = c
				}
			}
		}
		if sleep(ctx, look/4) != nil {
			break
		}
	}
	return found
}

// concerns reports whether a call is about the group of a pool. AWS's are named after it with a suffix; Azure's are a part of a path.
func concerns(c sim.Call, name string) bool {
	for part := range strings.SplitSeq(c.Resource, "/") {
		if part == name || strings.HasPrefix(part, name+"-") {
			return true
		}
	}
	return false
}

// written returns the calls since then that changed a group. Those that change templates alone belong to the rotation.
func (b *bench) written(ctx context.Context, since time.Time) (all []sim.Call) {
	for _, at := range b.calls.at {
		text, err := get(ctx, http.MethodGet, at+sim.AdminPath+"calls")
		var summary sim.CallSummary
		if err != nil || json.Unmarshal(text, &summary) != nil {
			continue // the next look comes soon
		}
		for _, c := range summary.Calls {
			if c.Mutating && c.Code == "" && c.At.After(since) && !strings.Contains(c.Action, "LaunchTemplate") {
				all = append(all, c)
			}
		}
	}
	return all
}
