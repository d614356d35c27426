package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// surges spells the record of a surge in the tag.
var surges = driverkit.SurgeSpelling{Numbers: "/", Notes: " "}

// surge returns the surge of the scale set.
func (m *memory) surge() driverkit.Surge {
	s := surges.Read(model.Tag(m.set.is.Tags, model.TagSurge), m.set.size(), m.surgeRemoval)
	m.surgeRemoval = s.Removal
	for _, one := range m.set.machines {
		if one.state() != pool.Terminating {
			s.Stay = append(s.Stay, one.id)
		}
	}
	return s
}

// surgeRecorded forgets the removal once the tag was written with what is left of the surge; err is the result of that write.
func (m *memory) surgeRecorded(err error) error {
	if err == nil {
		m.surgeRemoval = nil
	}
	return err
}

// resized returns the change of the capacity to that of a note, which it records.
func (r setRead) resized(note pool.PlannedSurge) armcompute.VirtualMachineScaleSetUpdate {
	return model.Resize(model.Read(*r.is), r.withAttached(note.Size),
		map[string]string{model.TagSurge: surges.Record(note, pool.PlannedSurge{})})
}
