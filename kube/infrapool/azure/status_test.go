package azure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// seen is a report of so many machines, of which so many are wanted, whose model is as it should be.
func seen(have, want int) report.Report {
	return report.Report{Seen: true, Counts: report.Counts{Current: &have, Desired: want}, Conditions: []report.Condition{
		{Type: report.TemplateReady, Status: report.True, Reason: "AsWanted", Message: "model is what the specification asks for"},
		{Type: report.InstancesReady, Status: report.False, Reason: "AllocationFailed", Message: "0 of 3 machines are Ready; Azure has none"},
	}}
}

// TestStates is the table of a scale set's states, as the ecosystem knows them.
func TestStates(t *testing.T) {
	t.Parallel()
	const yes, no = report.True, report.False
	type says struct {
		Status report.Status
		Reason string
	}
	var (
		runs   = says{yes, "ScaleSetRunning"}
		model  = says{yes, "ScaleSetModelUpdated"}
		old    = says{no, "ScaleSetModelOutOfDate"}
		enough = says{yes, "ScaleSetDesiredReplicas"}
	)
	for name, tc := range map[string]struct {
		reason                   string
		group                    *pool.Group
		have, want               int
		state                    azurev1.ProvisioningState
		running, updated, wanted says
	}{
		"succeeded":   {"everything is as it should be", &pool.Group{State: "Succeeded"}, 3, 3, "Succeeded", runs, model, enough},
		"too few":     {"more are on their way", &pool.Group{State: "Succeeded"}, 2, 3, "Updating", runs, model, says{no, "ScaleSetScalingUp"}},
		"too many":    {"some are on their way out", &pool.Group{State: "Succeeded"}, 4, 3, "Updating", runs, model, says{no, "ScaleSetScalingDown"}},
		"updating":    {"Azure is changing it", &pool.Group{State: "Updating"}, 3, 3, "Updating", runs, old, enough},
		"creating":    {"Azure is making it", &pool.Group{State: "Creating"}, 0, 3, "Creating", says{no, "ScaleSetCreating"}, model, says{no, "ScaleSetScalingUp"}},
		"deleting":    {"Azure is deleting it", &pool.Group{State: "Deleting"}, 3, 3, "Deleting", says{no, "ScaleSetDeleting"}, model, enough},
		"deleting it": {"as the driver says it", &pool.Group{State: "Deleting", Deleting: true}, 3, 3, "Deleting", says{no, "ScaleSetDeleting"}, model, enough},
		"failed":      {"Azure has given up", &pool.Group{State: "Failed"}, 0, 3, "Failed", says{no, "ScaleSetProvisionFailed"}, model, says{no, "ScaleSetScalingUp"}},
		"canceled":    {"somebody has called it off", &pool.Group{State: "Canceled"}, 3, 3, "Canceled", says{no, "Canceled"}, model, enough},
		"migrating":   {"a state like any other", &pool.Group{State: "Migrating"}, 3, 3, "Migrating", says{no, "Migrating"}, model, enough},
		"unsaid":      {"a driver that does not say", &pool.Group{}, 3, 3, "Succeeded", runs, model, enough},
		"none":        {"there is none", nil, 0, 3, "", says{no, "ScaleSetMissing"}, model, says{no, "ScaleSetScalingUp"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, out := seen(tc.have, tc.want), engine.Outcome{Observed: pool.Observed{Group: tc.group}}
			o := object()
			Adapter{}.Report(o, r, out)
			if got := ptr.Deref(o.Status.ProvisioningState, ""); got != tc.state {
				t.Errorf("%s: want provisioning state %s, got %s", tc.reason, tc.state, got)
			}
			got := map[string]says{}
			for _, c := range (Adapter{}).Conditions(o, r, out) {
				got[c.Type] = says{c.Status, c.Reason}
			}
			want := map[string]says{scaleSetRunning: tc.running, scaleSetModelUpdated: tc.updated, scaleSetDesiredReplicas: tc.wanted}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConditionsInWords(t *testing.T) {
	t.Parallel()
	failed := Adapter{}.Conditions(object(), seen(0, 3), engine.Outcome{Observed: pool.Observed{Group: &pool.Group{State: "Failed"}}})
	if got := failed[0].Message; got != "0 of 3 machines are Ready; Azure has none" {
		t.Errorf("want the words of what keeps machines from coming, got %q", got)
	}
	unknown := Adapter{}.Conditions(object(), report.Report{Seen: true}, engine.Outcome{Observed: pool.Observed{Group: &pool.Group{State: "Succeeded"}}})
	if unknown[1].Status != report.Unknown || unknown[2].Status != report.Unknown {
		t.Errorf("want what is not known to be Unknown, got %v", unknown)
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	id := "/subscriptions/s/x"
	gallery := &azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "1.36.3"}}
	const text = `{"computeGallery":{"gallery":"g","name":"n","version":"1.36.3"}}`
	for name, tc := range map[string]struct {
		reason     string
		spec, was  *azurev1.Image
		remembered map[string]string
		want       *azurev1.Image
	}{
		"named":      {"the specification's own", &azurev1.Image{ID: &id}, gallery, map[string]string{"image-1": text}, &azurev1.Image{ID: &id}},
		"found":      {"the one for the Kubernetes version", nil, nil, map[string]string{"image-1": text, "zones-1": "1"}, gallery},
		"not found":  {"the last one that was", nil, gallery, nil, gallery},
		"two":        {"nobody knows which one counts", nil, gallery, map[string]string{"image-1": text, "image-2": `{"id":"x"}`}, gallery},
		"unreadable": {"somebody has changed it", nil, gallery, map[string]string{"image-1": "ami-1"}, gallery},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object(func(o *azurev1.AzureMachinePool) { o.Spec.Template.Image, o.Status.Image = tc.spec, tc.was })
			Adapter{}.Report(o, seen(1, 1), engine.Outcome{Observed: pool.Observed{Remember: tc.remembered}})
			if diff := cmp.Diff(tc.want, o.Status.Image); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
		})
	}
}
