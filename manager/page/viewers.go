package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/page"
	"github.com/muster-project/muster/view/page/stream"
)

const (
	// maxViewers bounds the users whose pools are watched at the same time: each takes memory for all pools that it sees.
	maxViewers = 25
	// idle is the time without a request after which a user's pools are not watched any more.
	idle = 5 * time.Minute
	// recheck is the time after which the namespaces of a user are looked up again.
	recheck = time.Minute
	// maxNamespaces bounds the namespaces of a user who may not list the pools of all namespaces.
	maxNamespaces = 200
	// asking bounds the reviews that are under way at the same time for one user.
	asking = 10
)

// poolKind is the kind that a user must be able to list and watch.
var poolKind = clusterv1.GroupVersion.WithKind("MachinePool")

// viewers holds what each user sees. It is safe for concurrent use.
type viewers struct {
	o   Options
	now func() time.Time
	// start has a watch run beside the requests, which it outlives, until the server ends or the function that start returns is called.
	start func(watch func(context.Context)) (end context.CancelFunc)

	mu    sync.Mutex
	known map[string]*viewer
}

// starter returns a function that has others run until ctx ends or they are ended one by one.
func starter(ctx context.Context) func(func(context.Context)) context.CancelFunc {
	return func(run func(context.Context)) context.CancelFunc {
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			defer cancel()
			run(ctx)
		}()
		return cancel
	}
}

// viewer holds the pools that one user may see, and the watch behind them.
type viewer struct {
	page.Viewer
	namespaces []string // empty for all
	used       time.Time
	checked    time.Time
	end        context.CancelFunc
}

// view returns the user's view, with the time at which its streams end.
func (v *viewer) view() *page.Viewer {
	shown := v.Viewer
	shown.Until = v.checked.Add(2 * recheck)
	return &shown
}

// touched reports whether a user's pools are watched, and returns the view if the user's rights were looked up lately. The lock is held.
func (v *viewers) touched(key string, now time.Time) (known bool, fresh *page.Viewer) {
	found := v.known[key]
	if found == nil {
		return false, nil
	}
	found.used = now
	if now.Sub(found.checked) < recheck {
		fresh = found.view()
	}
	return true, fresh
}

// get returns what a user sees, and begins to watch it if nothing does.
func (v *viewers) get(ctx context.Context, user rest.ImpersonationConfig) (*page.Viewer, error) {
	key, now := identity(user), v.now()
	v.mu.Lock()
	v.closeIdle(now)
	known, fresh := v.touched(key, now)
	full := !known && len(v.known) >= maxViewers
	v.mu.Unlock()
	switch {
	case fresh != nil:
		return fresh, nil
	case full:
		return nil, tooMany()
	}
	config := rest.CopyConfig(v.o.Config)
	config.Impersonate = user
	c, err := client.New(config, client.Options{Scheme: v.o.Scheme, Mapper: v.o.Client.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("make the client of user %s: %w", user.UserName, err)
	}
	namespaces, err := v.namespaces(ctx, c)
	if apierrors.IsForbidden(err) {
		v.drop(key)
	}
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	found := v.known[key]
	if found != nil && slices.Equal(found.namespaces, namespaces) {
		found.checked = now
		return found.view(), nil
	}
	if found != nil {
		found.end()
		delete(v.known, key)
	}
	if len(v.known) >= maxViewers {
		return nil, tooMany()
	}
	made, err := v.watch(config, c, user.UserName, namespaces)
	if err != nil {
		return nil, err
	}
	made.used, made.checked = now, now
	v.known[key] = made
	return made.view(), nil
}

// tooMany returns the error beyond maxViewers.
func tooMany() error {
	return apierrors.NewTooManyRequests(fmt.Sprintf("%d users look at the page, which is the limit", maxViewers), 60)
}

// drop ends the watch of a user who has lost the right to see anything.
func (v *viewers) drop(key string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if found := v.known[key]; found != nil {
		found.end()
		delete(v.known, key)
	}
}

// closeIdle ends the watches of users that are away. The browser of a user that is not sends a request whenever a stream has ended. The
// caller holds the lock.
func (v *viewers) closeIdle(now time.Time) {
	for key, one := range v.known {
		if now.Sub(one.used) > idle {
			one.end()
			delete(v.known, key)
		}
	}
}

// expire ends the watches of users that are away until ctx ends.
func (v *viewers) expire(ctx context.Context) {
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			v.mu.Lock()
			v.closeIdle(v.now())
			v.mu.Unlock()
		}
	}
}

// watch begins to watch the pools of a user.
func (v *viewers) watch(config *rest.Config, c client.Client, name string, namespaces []string) (*viewer, error) {
	reviewers := map[string]*access.Reviewer{}
	for _, namespace := range orAll(namespaces) {
		reviewers[namespace] = access.New(c, v.now)
	}
	mayWatch := func(ctx context.Context, gvk schema.GroupVersionKind) error {
		for namespace, r := range reviewers {
			if err := r.MayWatch(ctx, gvk, namespace); err != nil {
				return fmt.Errorf("user %s may not list and watch %s: %w", name, gvk.Kind, err)
			}
		}
		return nil
	}
	w, err := view.NewPoolWatch(config, view.PoolWatchOptions{Namespaces: namespaces, MayWatch: mayWatch})
	if err != nil {
		return nil, err
	}
	hub := stream.NewHub(w, page.Encoder{}, v.o.CloudOf)
	end := v.start(func(ctx context.Context) {
		go hub.Run(ctx)
		_ = w.Start(ctx) // its end shows in the requests that wait for it
	})
	return &viewer{Viewer: page.Viewer{Name: name, Client: c, Fleet: hub, Everything: len(namespaces) == 0}, namespaces: namespaces,
		end: end}, nil
}

func orAll(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{""}
	}
	return namespaces
}

// namespaces returns those whose pools a user may list and watch; none if it may those of all namespaces. Only namespaces that have pools
// are looked at.
func (v *viewers) namespaces(ctx context.Context, c client.Client) ([]string, error) {
	err := access.New(c, v.now).MayWatch(ctx, poolKind, "")
	if err == nil || !errors.Is(err, access.ErrForbidden) {
		return nil, err
	}
	var list clusterv1.MachinePoolList
	if err := v.o.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the namespaces with machine pools: %w", err)
	}
	all := map[string]bool{}
	for k := range list.Items {
		all[list.Items[k].Namespace] = true
	}
	var mu sync.Mutex
	var allowed []string
	var failed error
	var tasks sync.WaitGroup
	slots := make(chan struct{}, asking)
	for namespace := range all {
		slots <- struct{}{}
		tasks.Go(func() {
			defer func() { <-slots }()
			err := access.New(c, v.now).MayWatch(ctx, poolKind, namespace)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				allowed = append(allowed, namespace)
			case !errors.Is(err, access.ErrForbidden):
				failed = err
			}
		})
	}
	tasks.Wait()
	switch {
	case failed != nil:
		return nil, failed
	case len(allowed) == 0:
		refused := apierrors.NewForbidden(schema.GroupResource{Group: poolKind.Group, Resource: "machinepools"}, "", nil)
		refused.ErrStatus.Message = "you may list and watch machinepools in no namespace that has any"
		return nil, refused
	}
	slices.Sort(allowed)
	return allowed[:min(len(allowed), maxNamespaces)], nil
}
