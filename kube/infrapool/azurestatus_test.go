package infrapool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azurestatus"
)

// seen is a report of so many machines, of which so many are wanted, whose model is as it should be.
func seen(have, want int) report.Report {
	return report.Report{Seen: true, Counts: report.Counts{Current: &have, Desired: want}, Conditions: []report.Condition{
		{Type: report.TemplateReady, Status: report.True, Reason: "UpToDate", Message: "model is what the specification asks for"},
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
		"succeeded": {"everything is as it should be", &pool.Group{State: "Succeeded"}, 3, 3, "Succeeded", runs, model, enough},
		"too few":   {"more are on their way", &pool.Group{State: "Succeeded"}, 2, 3, "Updating", runs, model, says{no, "ScaleSetScalingUp"}},
		"too many": {"some are on their way out", &pool.Group{State: "Succeeded"}, 4, 3, "Updating", runs, model,
			says{no, "ScaleSetScalingDown"}},
		"updating": {"Azure is changing it", &pool.Group{State: "Updating"}, 3, 3, "Updating", runs, old, enough},
		"creating": {"Azure is making it", &pool.Group{State: "Creating"}, 0, 3, "Creating", says{no, "ScaleSetCreating"}, model,
			says{no, "ScaleSetScalingUp"}},
		"deleting": {"Azure is deleting it", &pool.Group{State: "Deleting"}, 3, 3, "Deleting", says{no, "ScaleSetDeleting"}, model, enough},
		"deleting it": {"as the driver says it", &pool.Group{State: "Deleting", Deleting: true}, 3, 3, "Deleting", says{no, "ScaleSetDeleting"},
			model, enough},
		"failed": {"Azure has given up", &pool.Group{State: "Failed"}, 0, 3, "Failed", says{no, "ScaleSetProvisionFailed"}, model,
			says{no, "ScaleSetScalingUp"}},
		"canceled":  {"the operation was canceled", &pool.Group{State: "Canceled"}, 3, 3, "Canceled", says{no, "Canceled"}, model, enough},
		"migrating": {"a state like any other", &pool.Group{State: "Migrating"}, 3, 3, "Migrating", says{no, "Migrating"}, model, enough},
		"unsaid":    {"a driver that does not say", &pool.Group{}, 3, 3, "Succeeded", runs, model, enough},
		"none":      {"there is none", nil, 0, 3, "", says{no, "ScaleSetMissing"}, model, says{no, "ScaleSetScalingUp"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := seen(tc.have, tc.want)
			if got := ptr.Deref(azurestatus.ProvisioningState(r, tc.group), ""); got != tc.state {
				t.Errorf("%s: want provisioning state %s, got %s", tc.reason, tc.state, got)
			}
			got := map[string]says{}
			for _, c := range azurestatus.Conditions(r, tc.group) {
				got[c.Type] = says{c.Status, c.Reason}
			}
			want := map[string]says{"ScaleSetRunning": tc.running, "ScaleSetModelUpdated": tc.updated, "ScaleSetDesiredReplicas": tc.wanted}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConditionsInWords(t *testing.T) {
	t.Parallel()
	failed := azurestatus.Conditions(seen(0, 3), &pool.Group{State: "Failed"})
	if got := failed[0].Message; got != "0 of 3 machines are Ready; Azure has none" {
		t.Errorf("want the words of what keeps machines from coming, got %q", got)
	}
	unknown := azurestatus.Conditions(report.Report{Seen: true}, &pool.Group{State: "Succeeded"})
	if unknown[1].Status != report.Unknown || unknown[2].Status != report.Unknown {
		t.Errorf("want what is not known to be Unknown, got %v", unknown)
	}
}
