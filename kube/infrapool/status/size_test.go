package status

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

func TestListedInstances(t *testing.T) {
	t.Parallel()
	fleet := func(serving, unready int) (list []report.Instance) {
		for n := range serving + unready {
			i := report.Instance{ID: fmt.Sprintf("i-%04d", n), State: pool.Running, Ready: n < serving}
			list = append(list, i)
		}
		return list
	}
	for name, tc := range map[string]struct {
		reason           string
		serving, unready int
		// wantServing and wantUnready count the listed instances.
		wantServing, wantUnready int
	}{
		"all":       {"all instances of a pool of usual size", 240, 10, 240, 10},
		"large":     {"all that do not serve, and the oldest of those that do", 4990, 10, 240, 10},
		"unready":   {"as many as there is room for", 1000, 4000, 0, 250},
		"all serve": {"the oldest", 5000, 0, 250, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := fleet(tc.serving, tc.unready)
			got := listed(list)
			ready := 0
			for _, i := range got {
				if i.Ready {
					ready++
				}
			}
			if ready != tc.wantServing || len(got)-ready != tc.wantUnready {
				t.Errorf("%s: want %d that serve and %d others, got %d and %d", tc.reason, tc.wantServing, tc.wantUnready, ready, len(got)-ready)
			}
			if !slices.IsSortedFunc(got, func(a, b report.Instance) int { return strings.Compare(a.ID, b.ID) }) {
				t.Error("want them in their order")
			}
			if len(list) != tc.serving+tc.unready || list[0].ID != "i-0000" {
				t.Error("want the report as it was")
			}
		})
	}
}

// TestLargePoolsFitIntoOneObject holds that a pool of 5000 leaves room below the 1.5 MiB that etcd accepts for one object.
func TestLargePoolsFitIntoOneObject(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for name, tc := range map[string]struct {
		object interface {
			Object
			SetProviderIDList(ids []string)
		}
		row func(n int) report.Instance
	}{
		"AWSMachinePool": {&awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "mp"}}, func(n int) report.Instance {
			id := fmt.Sprintf("i-%017x", n)
			return report.Instance{ID: id, ProviderID: "aws:///ap-southeast-2a/" + id, Zone: "ap-southeast-2a", State: pool.Running,
				Node: fmt.Sprintf("ip-10-101-%03d-%03d.ap-southeast-2.compute.internal", n/250, n%250), Version: "v1.36.0",
				Template: "lt-0123456789abcdef0:17"}
		}},
		"AWSManagedMachinePool": {&awsv1.AWSManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "mp"}}, func(n int) report.Instance {
			id := fmt.Sprintf("i-%017x", n)
			return report.Instance{ID: id, ProviderID: "aws:///ap-southeast-2a/" + id, Zone: "ap-southeast-2a", State: pool.Running,
				Node: fmt.Sprintf("ip-10-101-%03d-%03d.ap-southeast-2.compute.internal", n/250, n%250), Version: "v1.36.0", Template: "1.36.0-20260101"}
		}},
		"AzureMachinePool": {&azurev1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "mp"}}, func(n int) report.Instance {
			id := "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/capz-rg/providers/Microsoft.Compute/virtualMachineScaleSets/" +
				"capz-mp-0/virtualMachines/" + fmt.Sprint(n)
			return report.Instance{ID: id, ProviderID: "azure://" + id, Zone: "1", State: pool.Running, Node: fmt.Sprintf("capz-mp-0%06d", n),
				Version:  "v1.36.0",
				Template: strings.Repeat("a", 64)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows []report.Instance
			var ids []string
			for n := range 5000 {
				row := tc.row(n)
				rows, ids = append(rows, row), append(ids, row.ProviderID)
			}
			tc.object.SetProviderIDList(ids)
			tc.object.GetCommonStatus().Instances = instances(rows)
			data, err := json.Marshal(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d KiB", len(data)>>10)
			if len(data) > limit {
				t.Errorf("want at most %d bytes, got %d", limit, len(data))
			}
		})
	}
}
