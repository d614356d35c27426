package world

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

// The annotations by which people hold a rollout and ask for one, as the project promises them.
const (
	rolloutAnnotation = "muster.dev/rollout"
	restartAnnotation = "muster.dev/restart-now"
)

// badType is a type of machine whose image does not boot, so that it never joins.
const badType = "r5.large"

// spec is a strategy as the object has it.
func (l *Limits) spec() *common.Strategy {
	if l == nil {
		return nil
	}
	surge, unavailable := parsed(l.Surge), parsed(l.Unavailable)
	return &common.Strategy{Type: common.StrategyRollingUpdate, RollingUpdate: &common.RollingUpdate{
		MaxSurge: &surge, MaxUnavailable: &unavailable, DeletePolicy: common.DeletePolicy(l.Policy),
	}}
}

func parsed(text string) intstr.IntOrString { return intstr.Parse(text) }

// spec are preferences as the object has them.
func (r Refresh) spec() *awsv1.RefreshPreferences {
	switch r {
	case Checkpoints:
		return &awsv1.RefreshPreferences{MinHealthyPercentage: ptr.To(int64(50)), InstanceWarmup: ptr.To(int64(30)), RefreshChecks: awsv1.RefreshChecks{
			CheckpointPercentages: []int32{50, 100}, CheckpointDelay: ptr.To(int64(60)),
		}}
	case Surplus:
		return &awsv1.RefreshPreferences{MinHealthyPercentage: ptr.To(int64(100)), MaxHealthyPercentage: ptr.To(int64(150)), InstanceWarmup: ptr.To(int64(30))}
	case Disabled:
		return &awsv1.RefreshPreferences{Disable: true}
	}
	return nil
}

// left are how many members are to be replaced: of another template, or made before a restart was asked for. Where nothing is
// to be replaced there are none.
func (w *World) left() (stale, old int) {
	mp, o := w.objects(w.user)
	if o == nil {
		return 0, 0
	}
	rolls := o.rolls() && !w.scenario.SkipModel
	for _, g := range w.account.snapshot().Groups {
		if g.Owner != w.owner().ID {
			continue
		}
		for _, m := range g.Staying() {
			// Versions are read again after hours: until then a version that a user deleted is what it was.
			dropped := m.Content == "" && w.scenario.Has(HandDropVersion)
			if rolls && m.Content != g.Content && !dropped {
				stale++
			}
			if annotated(mp, o, restartAnnotation) != "" && m.Launched.Before(w.restarts) {
				old++
			}
		}
	}
	return stale, old
}

// editStrategy sets the strategy to another one, or takes it away.
func (w *World) editStrategy(e Event) {
	some := []*Limits{{"1", "0", "Oldest"}, {"0", "1", "Newest"}, {"2", "2", "Random"}, {"50%", "0", "Oldest"}, {"0", "50%", "Oldest"}, nil}
	w.editInfra(func(o *infra) {
		if o.agents != nil {
			return // its limits are a field of the pool
		}
		if o.managed != nil {
			o.managed.Spec.UpdateConfig = some[e.N%len(some)].updates()
			return
		}
		if o.azure != nil {
			o.azure.Spec.Strategy = some[e.N%len(some)].azure()
			return
		}
		spec := &o.group.Spec
		if spec.Strategy = some[e.N%len(some)].spec(); spec.Strategy != nil && w.scenario.Refresh == Disabled {
			spec.RefreshPreferences = nil // both together are refused
		}
	})
}

// back takes the launch template back to what the pool began with.
func (w *World) back() {
	w.editInfra(func(o *infra) {
		o.setTemplate(w.launchTemplate())
		if o.azure != nil {
			o.azure.Spec.Template = w.azureTemplate()
		}
		if o.agents != nil {
			o.agents.edit(func(s *agentSpec) { s.SKU = w.agentSpec().SKU })
		}
	})
}

// restartNow asks for a replacement of all machines, with another reason than before.
func (w *World) restartNow(e Event) {
	w.restarts = time.Now()
	w.annotate(e.N, restartAnnotation, "asked at "+w.restarts.Format(time.RFC3339))
}

// asked is the moment that counts for a restart: when it was first seen, as the object remembers it, which is later than when
// a user asked for it, by hours where the pool is paused. One that the object does not remember yet is seen now at the soonest.
func (w *World) asked() time.Time {
	_, o := w.objects(w.user)
	at := time.Now()
	if o == nil {
		return at
	}
	known := remembered(o)
	for _, key := range []string{"restart", "restart-machinepool"} {
		moment, _, _ := strings.Cut(known[key], " ")
		if seen, err := time.Parse(time.RFC3339Nano, moment); err == nil && !seen.Before(w.restarts) {
			at = seen
		}
	}
	return at
}

// annotate gives one of both objects an annotation, or takes it off when the value is empty.
func (w *World) annotate(which int, key, value string) {
	set := func(o client.Object) {
		if value == "" {
			without(o, key)
			return
		}
		annotate(o, key, value)
	}
	if which%2 == 0 {
		w.editInfra(func(o *infra) { set(o) })
		return
	}
	w.editPool(func(mp *clusterv1.MachinePool) { set(mp) })
}

// annotated is the value of an annotation that either object has; the infrastructure object's counts first.
func annotated(mp *clusterv1.MachinePool, o *infra, key string) string {
	if o != nil && o.GetAnnotations()[key] != "" {
		return o.GetAnnotations()[key]
	}
	if mp != nil {
		return mp.Annotations[key]
	}
	return ""
}
