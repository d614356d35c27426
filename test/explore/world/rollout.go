package world

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
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
	surge, unavailable := intstr.Parse(l.Surge), intstr.Parse(l.Unavailable)
	return &common.Strategy{Type: common.StrategyRollingUpdate, RollingUpdate: &common.RollingUpdate{
		MaxSurge: &surge, MaxUnavailable: &unavailable, DeletePolicy: common.DeletePolicy(l.Policy),
	}}
}

// editStrategy sets the strategy to another one, or takes it away.
func (w *World) editStrategy(e Event) {
	some := []*Limits{{"1", "0", "Oldest"}, {"0", "1", "Newest"}, {"2", "2", "Random"}, {"50%", "0", "Oldest"}, {"0", "50%", "Oldest"}, nil}
	w.editInfra(func(o *awsv1.AWSMachinePool) { o.Spec.Strategy = some[e.N%len(some)].spec() })
}

// back takes the launch template back to what the pool began with.
func (w *World) back() {
	w.editInfra(func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate = w.launchTemplate() })
}

// restartNow asks for a replacement of all machines, with another reason than before.
func (w *World) restartNow(e Event) {
	w.restarts = time.Now()
	w.annotate(e.N, restartAnnotation, "asked at "+w.restarts.Format(time.RFC3339))
}

// annotate gives one of both objects an annotation, or takes it off when the value is empty.
func (w *World) annotate(which int, key, value string) {
	set := func(o client.Object) {
		annotations := map[string]string{}
		for k, v := range o.GetAnnotations() {
			annotations[k] = v
		}
		if annotations[key] = value; value == "" {
			delete(annotations, key)
		}
		o.SetAnnotations(annotations)
	}
	if which%2 == 0 {
		w.editInfra(func(o *awsv1.AWSMachinePool) { set(o) })
		return
	}
	w.editPool(func(mp *clusterv1.MachinePool) { set(mp) })
}

// annotated is the value of an annotation that either object has; the infrastructure object's counts first.
func annotated(mp *clusterv1.MachinePool, o *awsv1.AWSMachinePool, key string) string {
	if o != nil && o.Annotations[key] != "" {
		return o.Annotations[key]
	}
	if mp != nil {
		return mp.Annotations[key]
	}
	return ""
}
