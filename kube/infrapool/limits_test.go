package infrapool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/limiter"
)

// TestPoliciesThatCantBeRead holds that a failed read of policies holds back replacements alone.
func TestPoliciesThatCantBeRead(t *testing.T) {
	t.Parallel()
	w := running(t, machinePool(), awsMachinePool(rolling), cluster(), place(), data(), definition())
	refused := interceptor.NewClient(w.management, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			if _, is := list.(*musterv1.ClusterRolloutPolicyList); is {
				return errors.New("etcd is compacting")
			}
			return c.List(ctx, list, o...)
		}})
	w.reconciler.Policies = &limiter.Limiter{Policies: &policy.Reader{Client: refused}, Ledger: &limiter.Ledger{}}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(3)) })
	w.roll(12)
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Resize"}) {
		t.Errorf("want the pool resized and nothing replaced, got %q", got)
	}
	if got := w.condition(report.UpToDate); got.Reason != "PoliciesUnknown" || !strings.Contains(got.Message, "etcd is compacting") {
		t.Errorf("want the error in the condition, got %+v", got)
	}
}

// recordsClients has the API server return the client that sets annotations, to reads without a cache alone. It counts those of the pool.
func (w *world) recordsClients(name string) *int {
	reads, at := new(int), metav1.NewTime(time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC))
	earlier := metav1.NewTime(at.Add(-time.Hour))
	fields := func(annotation string) *metav1.FieldsV1 {
		return metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + annotation + `":{}}}}`)
	}
	w.reconciler.Live = interceptor.NewClient(w.management, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*awsv1.AWSMachinePool); is {
				*reads++
			}
			err := c.Get(ctx, key, o, opts...)
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "before", Time: &earlier, FieldsV1: fields("muster.dev/approve")},
				{Manager: name, Time: &at, FieldsV1: fields("muster.dev/approve")}, {Manager: name, Time: &at, FieldsV1: fields("muster.dev/rollout")},
				{Manager: "another", Time: &at, FieldsV1: fields("muster.dev/hold")}})
			return err
		}})
	return reads
}

// TestPoliciesHoldARollout holds that a freeze and a missing approval hold back every replacement, say why, and that the rollout goes on
// when a user approves it, or passes the freeze.
func TestPoliciesHoldARollout(t *testing.T) {
	t.Parallel()
	day := func(d time.Duration) musterv1.ExclusionDate {
		return musterv1.ExclusionDate(start.Add(d).Format(time.DateOnly))
	}
	for name, c := range map[string]struct {
		spec musterv1.RolloutPolicySpec
		// reason is that of the condition while the rollout waits, goOn what the user does.
		reason, words string
		goOn          func(o *awsv1.AWSMachinePool)
		// event is that of the user's action, if there is one.
		event string
	}{
		"freeze": {spec: musterv1.RolloutPolicySpec{Exclusions: []musterv1.RolloutExclusion{{From: day(-48 * time.Hour), To: day(48 * time.Hour),
			Scope: musterv1.ExcludeAll, Why: "peak"}}}, reason: "Excluded", words: "peak",
			event: "Warning WindowsOverridden Replacing machines outside of windows and in exclusions, as the annotation muster.dev/rollout: now " +
				"requests, which kubectl-annotate has set",
			goOn: func(o *awsv1.AWSMachinePool) { o.Annotations[settings.RolloutAnnotation] = settings.RolloutNow }},
		"approval": {spec: musterv1.RolloutPolicySpec{Gates: []musterv1.RolloutGate{{Name: "signoff", Approval: &musterv1.ApprovalGate{}}}},
			reason: "AwaitingApproval", words: "muster.dev/approve",
			event: "Normal GateApproved Gate signoff of ClusterRolloutPolicy production is approved by client kubectl-annotate at " +
				"2026-11-02T08:00:00Z (muster.dev/approved-by: jane), for rollout ",
			goOn: func(o *awsv1.AWSMachinePool) {
				o.Annotations["muster.dev/approved-by"] = `{"signoff@` + o.Status.Rollout.ID + `":"jane"}`
				o.Annotations["muster.dev/approve"] = "signoff@other,signoff@" + o.Status.Rollout.ID
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, machinePool(), awsMachinePool(rolling), cluster(), place(), data(), definition(),
				&musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: "production"}, Spec: c.spec})
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
			w.account.take()
			w.roll(12)
			if got := only(w.account.take(), replacing...); len(got) > 0 {
				t.Fatalf("want nothing replaced, got %q", got)
			}
			if got := w.condition(report.UpToDate); got.Reason != c.reason || !strings.Contains(got.Message, c.words) {
				t.Errorf("want UpToDate %s with %q, got %+v", c.reason, c.words, got)
			}
			if r := w.get().Status.Rollout; r == nil || r.ID == "" || r.Reason != c.reason {
				t.Fatalf("want the rollout in the status, got %+v", r)
			}
			writes := len(w.writes)
			if w.pass(); len(w.writes) != writes {
				t.Errorf("want no write while nothing changes, got %q", w.writes[writes:])
			}
			w.restart()
			reads := w.recordsClients("kubectl-annotate")
			change(w, awsMachinePool(), c.goOn)
			w.happened()
			w.roll(25)
			if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Resize", "Replace i-1", "Remove i-2"}) {
				t.Errorf("want both machines replaced, got %q", got)
			}
			if events := w.happened(); !contains(events, c.event) {
				t.Errorf("want the event %s, got %q", c.event, events)
			}
			if r := w.get().Status.Rollout; r == nil || r.State != "Ended" {
				t.Errorf("want the rollout ended, got %+v", r)
			}
			if *reads != 1 {
				t.Errorf("want the object read once for the client, got %d reads", *reads)
			}
		})
	}
}
