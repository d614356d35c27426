package instancepool_test

import (
	"encoding/base64"
	"strings"
	"testing"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim/oci"
)

// byProvider creates the pool of the object as the ecosystem's provider does: with the name of the object, the tags of the cluster, and
// what the specification asks for in an instance configuration of that provider's own. It returns the OCID of the pool.
func (w *world) byProvider(size int) string {
	w.Helper()
	s := w.target.Spec
	is := &s.Pool.InstanceConfiguration
	tags := map[string]string{ociv1.TagCreatedBy: ociv1.TagCreatedByValue, ociv1.TagCluster: identifier, "team": "a"}
	subnet := &s.Cluster.Subnets[0].ID
	launched := &core.InstanceConfigurationLaunchInstanceDetails{
		CompartmentId: &s.Cluster.CompartmentID, DisplayName: new(poolName), Shape: &is.Shape, FreeformTags: tags,
		ShapeConfig: &core.InstanceConfigurationLaunchInstanceShapeConfigDetails{Ocpus: new(2.0)},
		Metadata:    map[string]string{"user_data": base64.StdEncoding.EncodeToString([]byte("#cloud-config\n# of before\n"))},
		SourceDetails: &core.InstanceConfigurationInstanceSourceDetails{SourceType: new("image"),
			ImageId: is.InstanceSourceViaImageConfig.ImageID},
		CreateVnicDetails: &core.InstanceConfigurationCreateVnicDetails{SubnetId: subnet,
			NsgIds: []string{s.Cluster.SecurityGroups[0].ID}, FreeformTags: tags},
	}
	configuration, err := w.client().CreateInstanceConfiguration(w.Context(), core.CreateInstanceConfigurationRequest{
		Body: &core.CreateInstanceConfigurationBase{CompartmentId: &s.Cluster.CompartmentID, DisplayName: new(poolName + "-1a2b3c4d5e"),
			FreeformTags: tags, InstanceDetails: &core.InstanceConfigurationInstanceDetails{InstanceType: new("compute"),
				LaunchDetails: launched}}})
	if err != nil {
		w.Fatal(err)
	}
	request := &core.CreateInstancePoolDetails{CompartmentId: &s.Cluster.CompartmentID, DisplayName: new(poolName), FreeformTags: tags,
		InstanceConfigurationId: configuration.Body.Id, Size: &size}
	for _, domain := range s.Cluster.AvailabilityDomains {
		request.PlacementConfigurations = append(request.PlacementConfigurations, core.CreateInstancePoolPlacementConfigurationDetails{
			AvailabilityDomain: new(domain.Name), PrimarySubnetId: subnet, FaultDomains: domain.FaultDomains})
	}
	made, err := w.client().CreateInstancePool(w.Context(), core.CreateInstancePoolRequest{Body: request})
	if err != nil {
		w.Fatal(err)
	}
	settle()
	return *made.Body.Id
}

// TestAdoption takes over a pool of the ecosystem's provider: no instance is replaced, and other bootstrap data and another template are
// Muster's from then on.
func TestAdoption(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		ocid := w.byProvider(2)
		w.target.Search.Tagged, w.target.Search.Provider = true, true
		if o := w.observe(); o.OwnershipConflict == nil || !strings.Contains(o.OwnershipConflict.Message, poolName) || o.Group != nil {
			t.Fatalf("want the pool of the provider found, and none created, got %+v", o)
		}
		w.target.Owner.GroupName, w.target.Adopt = poolName, true
		o := w.observe()
		if is := o.Unowned; is == nil || !is.OfCluster || is.OtherCluster != "" || is.Name != poolName || is.Account != oci.Compartment {
			t.Fatalf("want a pool of the cluster that can be adopted, got %+v", is)
		}
		l := w.loop(desired(2, 1, 0))
		l.Desired.Adopt = pool.Adoption{Name: poolName, Namespace: "default"}
		l.Run()
		o = l.Look()
		if o.Group == nil || o.Group.ID != "oci://"+ocid || len(l.Left) > 0 || len(o.Instances) != 2 || len(o.Group.Drift) > 0 {
			t.Fatalf("want the same pool with its instances, got %+v with %+v, %d gone", o.Group, o.Instances, len(l.Left))
		}
		for _, i := range o.Instances {
			if !i.Template.Same(o.Wanted) {
				t.Errorf("want an instance of the desired content, got %+v and %+v", i.Template, o.Wanted)
			}
		}
		l.Target.Spec = with(func(s source) { s.Pool.InstanceConfiguration.Shape = "VM.Standard.E5.Flex" })(l.Target.Spec)
		l.Run()
		if o = l.Look(); len(l.Left) != 2 || o.Group.ID != "oci://"+ocid {
			t.Errorf("want the two instances of the provider replaced, got %d gone, %+v", len(l.Left), o.Instances)
		}
	})
}

// TestAnotherClustersPoolIsNotAdopted holds that the tags of another cluster keep a pool from being taken over.
func TestAnotherClustersPoolIsNotAdopted(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.byProvider(1)
		w.change(func(s source) { s.Cluster.ResourceIdentifier = "id-of-another" })
		w.target.Owner.GroupName, w.target.Adopt = poolName, true
		if is := w.observe().Unowned; is == nil || is.OfCluster || is.OtherCluster != identifier {
			t.Errorf("want a pool of another cluster, got %+v", is)
		}
		if err := w.try(pool.Step{Kind: pool.Adopt}); err == nil {
			t.Error("want the adoption refused")
		}
	})
}
