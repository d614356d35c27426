package nodepool_test

import (
	"fmt"
	"net/http"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/long"
)

func TestContract(t *testing.T) { suite().Run(t) }

func TestLongContractCanFail(t *testing.T) {
	long.Only(t)
	suite().RunMistakes(t)
}

func suite() cloudtest.Suite[source] {
	return cloudtest.Suite[source]{
		Cloud: func() (cloudtest.Cloud, error) {
			made, err := newCloud()
			return managed{made}, err
		},
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Pool:              zonal,
		KubernetesVersion: version,
		Changed:           spec(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") }),
		Reshaped:          spec(reshape),
		Broken: map[string]func(source) source{
			"spec.instanceType": spec(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n9-standard-4") }),
			"spec.imageType":    spec(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.ImageType = new("NOPE") }),
		},
		AskedTag: "stage", FixedTag: "muster-dev_cluster",
		Many: 510, ManyInPage: 10, SteadyReads: 3, Secondary: []string{"machineTypes.get", "instanceTemplates.get", "instanceTemplates.list",
			"instances.list", "projects.locations.operations.list", "projects.locations.operations.get"},
		Name: func(o cloud.Owner) string { return o.Name },
		GroupID: func(name string) string {
			return "projects/" + project.DefaultID + "/locations/" + region + "/clusters/" + clusterName + "/nodePools/" + name
		},
	}
}

// reshape changes every part of a node pool that GKE changes in place.
func reshape(s *gcpv1.GCPManagedMachinePoolSpec) {
	s.KubernetesLabels = gcpv1.NodeLabels{"tier": "blue"}
	s.KubernetesTaints = []gcpv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}
	s.NodeNetwork = &gcpv1.NodeNetworkConfig{Tags: []string{"web"}}
	s.Scaling = &gcpv1.NodePoolAutoScaling{MinCount: new(int32(1)), MaxCount: new(int32(6)), LocationPolicy: new(gcpv1.LocationAny)}
	s.Management = &gcpv1.NodePoolManagement{AutoRepair: true}
	s.UpgradeSettings = &gcpv1.UpgradeSettings{MaxSurge: new(int32(2)), MaxUnavailable: new(int32(1))}
	s.AdditionalLabels = gcpv1.Labels{"stage": "test"}
}

// managed is the simulator for drivers whose groups are node pools.
type managed struct{ *gcp.Cloud }

// Capabilities has actions for node pools. GKE makes and changes nothing that stands for a template.
func (m managed) Capabilities() sim.Capabilities {
	p := m.Cloud.Capabilities()
	by := func(run func(on sim.Resource, pool string) error) func(sim.Resource) error {
		return func(on sim.Resource) error {
			settle() // as long as GKE is at work on a cluster it takes nothing from a user either
			if err := run(on, clusterName+"/"+on.Name); err != nil {
				return fmt.Errorf("by hand: %w", err)
			}
			return nil
		}
	}
	p.Groups = gcp.NodePoolBehavior()
	gke := m.GKE
	p.OutOfBand[sim.CreateTemplate], p.OutOfBand[sim.DeleteTemplate] = nil, nil
	p.OutOfBand[sim.CreateGroup] = by(func(_ sim.Resource, pool string) error { return gke.CreatePool(pool, "e2-standard-4", 0) })
	p.OutOfBand[sim.DeleteGroup] = by(func(_ sim.Resource, pool string) error { return gke.DeletePool(pool) })
	p.OutOfBand[sim.SetSize] = by(func(on sim.Resource, pool string) error { return gke.ResizePool(pool, on.Size) })
	p.OutOfBand[sim.RemoveTag] = by(func(on sim.Resource, pool string) error { return m.relabel(pool, on.Key, "") })
	p.OutOfBand[sim.ChangeTag] = by(func(on sim.Resource, pool string) error { return m.relabel(pool, on.Key, on.Value) })
	terminate := p.OutOfBand[sim.TerminateInstance]
	p.OutOfBand[sim.TerminateInstance] = by(func(on sim.Resource, _ string) error { return terminate(on) })
	p.OutOfBand[sim.InterruptInstance] = nil
	return p
}

// relabel gives a resource label of a node pool another value, or removes it for an empty one.
func (m managed) relabel(pool, key, value string) error {
	labels := document.Object{}
	for _, is := range m.State().Clusters[0].Pools {
		for label, has := range is.Resource {
			labels[label] = has
		}
	}
	labels[key] = value
	if value == "" {
		delete(labels, key)
	}
	return m.GKE.UpdatePool(pool, document.Object{"resourceLabels": document.Object{"labels": labels}})
}
