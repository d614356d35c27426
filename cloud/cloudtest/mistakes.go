package cloudtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// mistake is something that authors of drivers get wrong, made by bending a driver that does not, and the case that notices.
type mistake[S any] struct {
	name, guard string
	driver      func(cloud.Driver[S]) cloud.Driver[S]
	wire        func(http.RoundTripper) http.RoundTripper
	// about is the kind of step that it is about, empty for all clouds: where a cloud has no such step no driver can get it wrong.
	about pool.StepKind
	// in is the exercise that it is about, where that is not every one of the kind.
	in string
	// onBase is true if it is about the version before a new one, by which a repeated request is known: names that follow from what is in a
	// template need none.
	onBase bool
}

// mistakes are those that the contract is shown to notice.
func mistakes[S any]() []mistake[S] {
	return slices.Concat(sights[S](), refusals[S](), outOfBandMistakes[S](), rollouts[S](), declarations[S](), []mistake[S]{
		{name: "reads the first page of a list and no more", guard: casePages, wire: firstPages},
	})
}

// bent is a driver with something wrong about it.
type bent[S any] struct {
	cloud.Driver[S]
	see func(context.Context, cloud.Target[S], pool.Observed, error) (pool.Observed, error)
	do  func(context.Context, cloud.Target[S], pool.Step) error
	// declare bends the traits.
	declare func(*pool.Traits)
}

func (b bent[S]) Traits() pool.Traits {
	t := b.Driver.Traits()
	if b.declare != nil {
		b.declare(&t)
	}
	return t
}

func (b bent[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	o, err := b.Driver.Observe(ctx, t)
	if b.see == nil {
		return o, err
	}
	return b.see(ctx, t, o, err)
}

func (b bent[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	if b.do == nil {
		return b.Driver.Start(ctx, t, s)
	}
	return b.do(ctx, t, s)
}

// seeing bends what is observed.
func seeing[S any](name, guard string, see func(cloud.Target[S], *pool.Observed)) mistake[S] {
	return mistake[S]{name: name, guard: guard, driver: func(d cloud.Driver[S]) cloud.Driver[S] {
		return bent[S]{Driver: d, see: func(_ context.Context, t cloud.Target[S], o pool.Observed, err error) (pool.Observed, error) {
			see(t, &o)
			return o, err
		}}
	}}
}

// telling bends the errors of steps and observations.
func telling[S any](name, guard string, tell func(cloud.Target[S], error) error) mistake[S] {
	return mistake[S]{name: name, guard: guard, driver: func(d cloud.Driver[S]) cloud.Driver[S] {
		return bent[S]{
			Driver: d,
			see: func(_ context.Context, t cloud.Target[S], o pool.Observed, err error) (pool.Observed, error) {
				if err = tell(t, err); err == nil {
					return o, nil
				}
				return o, err
			},
			do: func(ctx context.Context, t cloud.Target[S], s pool.Step) error { return tell(t, d.Start(ctx, t, s)) },
		}
	}}
}

// doing bends what a step does.
func doing[S any](name, guard string, do func(context.Context, cloud.Driver[S], cloud.Target[S], pool.Step) error) mistake[S] {
	return mistake[S]{name: name, guard: guard, driver: func(d cloud.Driver[S]) cloud.Driver[S] {
		return bent[S]{Driver: d, do: func(ctx context.Context, t cloud.Target[S], s pool.Step) error { return do(ctx, d, t, s) }}
	}}
}

// declaring bends the traits, which decide what the suite asks for.
func declaring[S any](name, guard string, declare func(*pool.Traits)) mistake[S] {
	return mistake[S]{name: name, guard: guard, driver: func(d cloud.Driver[S]) cloud.Driver[S] {
		return bent[S]{Driver: d, declare: declare}
	}}
}

// declarations are mistakes of what a driver declares.
func declarations[S any]() []mistake[S] {
	return []mistake[S]{
		declaring[S]("declares no changes in place", caseDrift, func(t *pool.Traits) { t.SupportsInPlaceChanges = false }).of(pool.Apply),
		declaring[S]("declares no protection from scale-in", caseCreated,
			func(t *pool.Traits) { t.SupportsScaleInProtection = false }).of(pool.Protect),
		seeing("takes its own template for one that the cloud makes", caseCreated, func(_ cloud.Target[S], o *pool.Observed) {
			o.Wanted.UserManaged, o.Wanted.ByCloud = true, true
		}).of(pool.PutTemplate),
	}
}

// sights are mistakes of observations.
func sights[S any]() []mistake[S] {
	return []mistake[S]{
		seeing("takes what is foreign for nothing", caseForeignGroup, func(_ cloud.Target[S], o *pool.Observed) { o.OwnershipConflict = nil }),
		seeing("takes a claimed owner ID for a proof", caseClaimed, func(_ cloud.Target[S], o *pool.Observed) { o.OwnershipConflict = nil }),
		seeing("does not look for the group that a pool had before", caseAgain, func(t cloud.Target[S], o *pool.Observed) {
			if t.Search.Tagged {
				o.OwnershipConflict = nil
			}
		}),
		seeing("forgets drift", caseByHand, func(_ cloud.Target[S], o *pool.Observed) {
			if o.Group != nil {
				o.Group.Drift = nil
			}
		}),
		seeing("asks for no reason why machines are missing", caseCapacity, func(_ cloud.Target[S], o *pool.Observed) { o.Issues = nil }),
		seeing("shows bootstrap data in an issue", caseSecret, func(t cloud.Target[S], o *pool.Observed) {
			o.Issues = append(o.Issues, pool.Cause{Message: base64.StdEncoding.EncodeToString(t.Bootstrap.Data())})
		}),
		seeing("takes a rotated token for another template", caseRotation, func(_ cloud.Target[S], o *pool.Observed) {
			o.Wanted.Content += o.Wanted.Data
			for i, v := range o.Versions {
				o.Versions[i].Content = v.Content + v.Data
			}
			for i, v := range o.Instances {
				o.Instances[i].Template.Content = v.Template.Content + v.Template.Data
			}
		}).of(pool.PutTemplate),
		seeing("names all machines alike", caseCreated, func(_ cloud.Target[S], o *pool.Observed) {
			for i := range o.Instances {
				o.Instances[i].ProviderID = "instance"
			}
		}),
		seeing("does not know when machines were made", caseCreated, func(_ cloud.Target[S], o *pool.Observed) {
			for i := range o.Instances {
				known := !o.Instances[i].Created.IsZero()
				o.Instances[i].Created = time.Time{}
				if !known { // where the cloud does not tell, neither does the driver
					o.Instances[i].Created = time.Now()
				}
			}
		}),
		{name: "looks at what it remembers, and remembers nothing at first", guard: caseForgetful, driver: newcomer[S]},
		{name: "takes what was accepted for done", guard: caseIgnored, driver: trusting[S]},
		{name: "writes while it looks", guard: caseSteady, driver: func(d cloud.Driver[S]) cloud.Driver[S] {
			return bent[S]{Driver: d, see: func(ctx context.Context, t cloud.Target[S], o pool.Observed, err error) (pool.Observed, error) {
				if o.Group != nil {
					// A driver may send nothing for the size that the group has.
					err = errors.Join(err, d.Start(ctx, t, pool.Step{Kind: pool.Resize, Size: o.Group.Size + 1}))
				}
				return o, err
			}}
		}},
		{name: "takes a denied look for an empty cloud", guard: caseDeniedLook, driver: func(d cloud.Driver[S]) cloud.Driver[S] {
			return bent[S]{Driver: d, see: func(_ context.Context, _ cloud.Target[S], o pool.Observed, err error) (pool.Observed, error) {
				if err != nil && cloud.KindOf(err) == cloud.Denied {
					return pool.Observed{}, nil
				}
				return o, err
			}}
		}},
	}
}

// newcomer sees a group only when it has done something itself.
func newcomer[S any](d cloud.Driver[S]) cloud.Driver[S] {
	acted := false
	return bent[S]{
		Driver: d,
		see: func(_ context.Context, _ cloud.Target[S], o pool.Observed, err error) (pool.Observed, error) {
			if !acted {
				o.Group, o.Instances = nil, nil
			}
			return o, err
		},
		do: func(ctx context.Context, t cloud.Target[S], s pool.Step) error {
			acted = true
			return d.Start(ctx, t, s)
		},
	}
}

// changing bends the cloud's refusals.
func changing[S any](name, guard string, change func(*cloud.Error)) mistake[S] {
	return telling(name, guard, func(_ cloud.Target[S], err error) error {
		var e *cloud.Error
		if errors.As(err, &e) {
			change(e)
		}
		return err
	})
}

// refusals are mistakes of errors.
func refusals[S any]() []mistake[S] {
	return []mistake[S]{
		telling("takes a lost reply for a good one", caseLost, func(_ cloud.Target[S], err error) error {
			if err != nil && cloud.KindOf(err) == cloud.Unavailable {
				return nil
			}
			return err
		}),
		telling("repeats in an error what it has sent", caseSecret, func(t cloud.Target[S], err error) error {
			if err == nil {
				return nil
			}
			return fmt.Errorf("%w: sent %s", err, t.Bootstrap.Data())
		}).of(pool.PutTemplate),
		changing[S]("does not pass on for how long to wait", caseThrottled, func(e *cloud.Error) { e.After = 0 }),
		changing[S]("tells a denial in words of its own", caseDenied, func(e *cloud.Error) {
			if e.Kind == cloud.Denied {
				e.Code, e.Message = "Forbidden", "something is not allowed"
			}
		}),
		changing[S]("takes a throttle for a failure", caseThrottledLook, func(e *cloud.Error) {
			if e.Kind == cloud.Throttled {
				e.Kind = cloud.Unavailable
			}
		}),
		changing[S]("blames no field", caseInvalid, func(e *cloud.Error) { e.Field = "" }),
	}
}

// outOfBandMistakes are mistakes of steps.
func outOfBandMistakes[S any]() []mistake[S] {
	return []mistake[S]{
		doing("takes another instance when the chosen one is gone", caseTwice, takesAnother[S]).of(pool.Remove),
		doing("makes every try a new request", caseStale, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			if s.Kind == pool.PutTemplate {
				s.Base += time.Now().String()
			}
			return d.Start(ctx, t, s)
		}).of(pool.PutTemplate).within(nameFirst).based(),
		doing("lets the cloud choose who goes", caseChosen, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			if s.Kind != pool.Remove {
				return d.Start(ctx, t, s)
			}
			o, err := d.Observe(ctx, t)
			if err != nil || o.Group == nil {
				return err
			}
			return d.Start(ctx, t, pool.Step{Kind: pool.Resize, Size: o.Group.Size - len(s.Targets)})
		}).of(pool.Remove),
		doing("sizes the group with every update", caseSize, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			if err := d.Start(ctx, t, s); err != nil || s.Kind != pool.UpdateGroup {
				return err
			}
			return d.Start(ctx, t, pool.Step{Kind: pool.Resize, Size: sizeSmall})
		}),
		doing("leaves the template behind", caseDeleted, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			if s.Kind == pool.DeleteTemplates {
				return nil
			}
			return d.Start(ctx, t, s)
		}).of(pool.DeleteTemplates),
		doing("waits until a group is there", caseCreated, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			err := d.Start(ctx, t, s)
			if s.Kind == pool.CreateGroup {
				rest(5 * time.Minute)
			}
			return err
		}),
		doing("tries again by itself", caseUnheard, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			err := d.Start(ctx, t, s)
			if err != nil && cloud.KindOf(err) == cloud.Unavailable {
				err = d.Start(ctx, t, s)
			}
			return err
		}),
		doing("does what it does not know", caseNotOurs, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
			if s.Kind == pool.Drain {
				return nil
			}
			return d.Start(ctx, t, s)
		}),
	}
}

// takesAnother removes some instance, if the chosen ones are on their way out already.
func takesAnother[S any](ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
	if s.Kind != pool.Remove {
		return d.Start(ctx, t, s)
	}
	o, err := d.Observe(ctx, t)
	if err != nil {
		return err
	}
	left := alive(o.Instances)
	for i, target := range s.Targets {
		if len(left) > 0 && !slices.Contains(ids(left), target.ID) {
			s.Targets[i] = pool.InstanceRef{ID: left[0].ID}
		}
	}
	return d.Start(ctx, t, s)
}

// nextPages are the ways in which replies say that there is more.
var nextPages = regexp.MustCompile(`(?i)<nexttoken>[^<]*</nexttoken>|"(nextToken|nextPageToken|nextLink)"\s*:\s*"[^"]*",?|` +
	`"total_count"\s*:\s*\d+,?`)

// cutting is a wire that hides further pages.
type cutting struct{ next http.RoundTripper }

func firstPages(next http.RoundTripper) http.RoundTripper { return cutting{next} }

func (c cutting) RoundTrip(req *http.Request) (*http.Response, error) {
	reply, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(reply.Body)
	if err = errors.Join(err, reply.Body.Close()); err != nil {
		return nil, err
	}
	reply.Header.Del("Opc-Next-Page")
	text := nextPages.ReplaceAllString(string(body), "")
	reply.Body, reply.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	return reply, nil
}
