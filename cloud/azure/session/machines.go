package session

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

// Machines are the virtual machines of a scale set in mode Flexible as they were read, with their instance views.
type Machines struct {
	// List is shared by all pools and must not be changed.
	List []*armcompute.VirtualMachine
	// Skew is the lead of Azure's clock over Muster's.
	Skew time.Duration
}

// machines are the virtual machines of a session's subscription, read for all pools together, by the key of their scale set.
type machines struct {
	client *armcompute.VirtualMachinesClient
	sets   *sets
	// empty are the keys of the scale sets whose own list has shown no machine. A listing shows nothing of such a scale set, which agrees
	// with its own list; of any other scale set it proves nothing.
	empty sync.Map
	// models and statuses are the two lists of the subscription.
	models, statuses relisted[armcompute.VirtualMachine]
	// pages is the number of pages of the last two lists together.
	pages atomic.Int64
}

func newMachines(client *armcompute.VirtualMachinesClient, of *sets, o Options) *sweep.Sweep[Machines] {
	m := &machines{client: client, sets: of}
	return sweep.New(sweep.Options[Machines]{Some: m.some, All: m.all, Now: o.Now, Eager: o.Listing})
}

// some lists the machines of one scale set.
func (m *machines) some(ctx context.Context, keys []string, found func(string, Machines)) error {
	for _, key := range keys {
		name := m.sets.named(key)
		var reply *http.Response
		pager := m.client.NewListPager(name.group, &armcompute.VirtualMachinesClientListOptions{
			Filter: new("'virtualMachineScaleSet/id' eq '" + name.id + "'"), Expand: new(armcompute.ExpandTypeForListVMsInstanceView),
		})
		list, err := Listed(policy.WithCaptureResponse(ctx, &reply), pager,
			func(page armcompute.VirtualMachinesClientListResponse) []*armcompute.VirtualMachine {
				return page.Value
			}, m.sets.now())
		if err != nil {
			return err
		}
		if m.empty.Delete(key); len(list) == 0 {
			m.empty.Store(key, true)
		}
		found(key, Machines{List: list, Skew: m.sets.skew(reply)})
	}
	return nil
}

// all lists the machines of the subscription: their models, which name their scale sets, and then how they are, for no one list shows both.
// It hands over nothing unless every page of both was read, and nothing of a scale set of which one machine has no status.
func (m *machines) all(ctx context.Context, found func(string, Machines)) (pages int, err error) {
	var reply *http.Response
	// To the rate budget both are one list: if the second were held back, the first would have been read for nothing, and again the next time.
	ctx, _ = wire.Paged(policy.WithCaptureResponse(ctx, &reply), int(m.pages.Load()))
	models, n, err := m.list(ctx, &m.models, nil)
	if err != nil {
		return n, err
	}
	skew := m.sets.skew(reply)
	statuses, more, err := m.list(ctx, &m.statuses, &armcompute.VirtualMachinesClientListAllOptions{StatusOnly: new("true")})
	pages = n + more
	if err != nil {
		return pages, err
	}
	m.pages.Store(int64(pages))
	grouped := joined(models, statuses)
	for key, list := range grouped {
		if list != nil {
			found(key, Machines{List: list, Skew: skew})
		}
	}
	m.empty.Range(func(key, _ any) bool {
		if _, shown := grouped[key.(string)]; !shown {
			found(key.(string), Machines{Skew: skew})
		}
		return true
	})
	return pages, nil
}

// list reads one list of the subscription to its end, and counts its pages.
func (m *machines) list(ctx context.Context, r *relisted[armcompute.VirtualMachine], o *armcompute.VirtualMachinesClientListAllOptions) (
	all []*armcompute.VirtualMachine, pages int, err error) {
	err = read(ctx, r, m.client.NewListAllPager(o), m.sets.now(), func(page []*armcompute.VirtualMachine) {
		pages++
		all = append(all, page...)
	})
	return all, pages, err
}

// joined groups machines by the key of their scale set, each with its instance view. A scale set of which one machine has no status has no
// list.
func joined(models, statuses []*armcompute.VirtualMachine) map[string][]*armcompute.VirtualMachine {
	views := make(map[string]*armcompute.VirtualMachineProperties, len(statuses))
	for _, vm := range statuses {
		if vm.ID != nil && vm.Properties != nil && vm.Properties.InstanceView != nil {
			views[strings.ToLower(*vm.ID)] = vm.Properties
		}
	}
	grouped, lacking := map[string][]*armcompute.VirtualMachine{}, map[string]bool{}
	for _, vm := range models {
		key := setOf(vm)
		if key == "" || vm.ID == nil {
			continue
		}
		view := views[strings.ToLower(*vm.ID)]
		if view == nil || !sameMachine(view, vm.Properties) {
			lacking[key] = true
			continue
		}
		whole, properties := *vm, *vm.Properties
		properties.InstanceView, whole.Properties = view.InstanceView, &properties
		grouped[key] = append(grouped[key], &whole)
	}
	for key := range lacking {
		grouped[key] = nil
	}
	return grouped
}

// sameMachine reports whether a status is that of a machine and not of another that had its name.
func sameMachine(status, model *armcompute.VirtualMachineProperties) bool {
	return status.VMID == nil || model.VMID == nil || strings.EqualFold(*status.VMID, *model.VMID)
}

// setOf returns the key of a machine's scale set, empty if it is in none.
func setOf(vm *armcompute.VirtualMachine) string {
	if vm.Properties == nil || vm.Properties.VirtualMachineScaleSet == nil {
		return ""
	}
	return keyOfID(vm.Properties.VirtualMachineScaleSet.ID)
}

// Machines returns the machines of a scale set in mode Flexible. maxAge is as in cloud.Target. An answer that must be new comes from the
// scale set's own list: a listing of the subscription proves nothing about what it leaves out.
func (s *Session) Machines(ctx context.Context, group, name string, maxAge time.Duration) (Machines, time.Time, error) {
	if maxAge <= 0 {
		maxAge = cloud.NoSharedCache
	}
	answer, err := s.sharedMachines.Get(ctx, s.sets.key(group, name), maxAge)
	return answer.Value, answer.At, err
}
