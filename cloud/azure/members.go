package azure

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// instances returns the scale set's machines, in the order in which they were created. Those whose creation is not known yet are the
// youngest. A machine that failed with the extensions that it was given is not offered them again: its tags, which are written afterwards,
// show that it still lacks them.
func (r setRead) instances(t target, want desired, appliedExtensions extended) []pool.Instance {
	var list []pool.Instance
	for _, m := range r.machines {
		is := m.made(want.against)
		if m.state() == pool.Failed && want.model != nil && appliedExtensions.has(m, want.model) {
			is.InPlaceDrift = nil
		}
		list = append(list, pool.Instance{
			ID:                 m.id,
			ProviderID:         t.providerID(m.id, m.flexible != nil),
			UID:                m.uid,
			Zone:               m.zone,
			Template:           pool.Template{Ref: model.Ref(is.Content, is.Data), Content: is.Content, Data: is.Data},
			State:              m.state(),
			RemovalAssumed:     m.assumed,
			CloudState:         m.provisioning,
			Stopped:            m.stopped(),
			Created:            m.created,
			TemplateDiff:       is.Differs,
			InPlaceDrift:       is.InPlaceDrift,
			Updating:           m.provisioning == stateUpdating,
			ScaleInUnprotected: !m.protected && !m.protectionUnknown,
			ScaleInProtected:   m.protected,
		})
	}
	driverkit.SortByAge(list)
	return list
}

// made returns what the machine was created from: by comparison with the wanted model, or else by its tags.
func (m machine) made(against *model.Comparison) model.Instance {
	switch {
	case against == nil:
		return model.Instance{Content: model.Tag(m.tags, model.TagContent), Data: model.Tag(m.tags, model.TagData)}
	case m.uniform != nil:
		return against.Uniform(*m.uniform)
	default:
		return against.Flexible(*m.flexible)
	}
}

// extended holds the extensions that were last requested for machines of a Flexible scale set, by the machine's ID.
type extended map[string]appliedExtensions

// appliedExtensions is a request to Azure to give a machine extensions.
type appliedExtensions struct {
	// extensions as a hash, as the machine's tags hold it once it has them.
	extensions string
	// since is the time of the first request, others the foreign extensions that the machine showed then.
	since  time.Time
	others string
}

// unshownPeriod is the time for which the request is repeated while the machine does not show the extensions. Azure may ignore a request
// that it accepts, it may show the extensions with other values, and other clients may have added some.
const unshownPeriod = 30 * time.Minute

// has reports whether a machine was given the extensions of a model.
func (e extended) has(m machine, wanted *model.Model) bool {
	return e[m.id].extensions == wanted.Extensions()
}

// taken reports whether a machine has taken the extensions of a model that it was given, as far as can be told.
func (e extended) taken(m machine, wanted *model.Model, now time.Time) bool {
	if !e.has(m, wanted) {
		return false
	}
	was := e[m.id]
	all, others := wanted.ExtensionsShown(m.flexible.Resources)
	return all && (others == "" || others != was.others) || now.Sub(was.since) >= unshownPeriod
}

// and returns e, for the machines that still exist, and what is given to the chosen ones now.
func (e extended) and(existing, chosen []machine, wanted *model.Model, now time.Time) extended {
	out := extended{}
	for _, m := range existing {
		if was, known := e[m.id]; known {
			out[m.id] = was
		}
	}
	for _, m := range chosen {
		if !e.has(m, wanted) {
			_, others := wanted.ExtensionsShown(m.flexible.Resources)
			out[m.id] = appliedExtensions{wanted.Extensions(), now, others}
		}
	}
	return out
}

// lacking returns the chosen machines that lack extensions and have not taken those that they were given. A machine's tags show the
// extensions only once they are written; losing this memory costs one more request.
func (e extended) lacking(want desired, chosen []machine, now time.Time) []machine {
	return slices.DeleteFunc(slices.Clone(chosen), func(m machine) bool {
		behind := want.against == nil || slices.Contains(m.made(want.against).InPlaceDrift, model.FieldExtensions)
		return !behind || e.taken(m, want.model, now)
	})
}

// protection is which machines of a Flexible scale set are protected from scale-in. Their own list does not show it.
type protection struct {
	// of are the protected machines by ID, as they were read at the moment at; nil before.
	of map[string]bool
	at time.Time
	// written are the machines whose protection Muster has changed since, whatever Azure has answered: what they are is to be read.
	written map[string]bool
	// refused is why they could not be read; of is nil then.
	refused driverkit.Refusal
}

// due reports whether to list the protected machines.
func (k *protection) due(now time.Time) bool {
	if k.refused.Err != nil {
		return !k.refused.Rests(now, refusedPeriod)
	}
	return k.of == nil || now.Sub(k.at) >= slowPeriod
}

// read sets on the machines of a scale set which are protected. It lists them if that is due; machines created since are not protected.
func (k *protection) read(ctx context.Context, from setReader, set setRead) error {
	machines := set.machines
	if !from.t.owns(set.is) || !flexible(set.is) {
		return nil
	}
	if len(machines) == 0 {
		k.refused = driverkit.Refusal{}
	} else if due := k.due(from.now); due || k.refused.Err == nil {
		err := notShown(k.update(ctx, from, machines, due))
		if failed := k.refused.Keep(from.now, err); failed != nil {
			return failed
		}
		if err != nil {
			*k = protection{refused: k.refused}
		}
	}
	for i := range machines {
		machines[i].protected = k.of[machines[i].id]
		machines[i].protectionUnknown = k.refused.Err != nil
	}
	return nil
}

// protectionReads is the number of machines with changed protection that are read one by one: such reads have a large budget, while lists
// of instances share a small one with those of scale sets.
const protectionReads = 4

// update lists which machines are protected if that is due, and reads those whose protection was changed.
func (k *protection) update(ctx context.Context, from setReader, machines []machine, due bool) error {
	if due || len(k.written) > protectionReads {
		return k.list(ctx, from)
	}
	for _, m := range machines {
		if !k.written[m.id] {
			continue
		}
		vm, err := from.c.ScaleSetVMs.Get(ctx, from.t.cluster.ResourceGroup, from.t.name, m.id, nil)
		if err = session.Refusal(err, from.now); err != nil && !session.Absent(err) {
			return err
		}
		if delete(k.written, m.id); guarded(&vm.VirtualMachineScaleSetVM) {
			k.of[m.id] = true
		} else {
			delete(k.of, m.id)
		}
	}
	return nil
}

// changes notes that the protection of a machine is written.
func (k *protection) changes(id string) {
	if k.written == nil {
		k.written = map[string]bool{}
	}
	k.written[id] = true
}

// list lists which machines are protected.
func (k *protection) list(ctx context.Context, from setReader) error {
	list, err := from.listMachines(ctx, nil)
	if err != nil {
		return err
	}
	*k = protection{of: map[string]bool{}, at: from.now, refused: k.refused}
	for _, vm := range list {
		if guarded(vm) {
			k.of[idOf(vm)] = true
		}
	}
	return nil
}
