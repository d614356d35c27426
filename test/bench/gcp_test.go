package bench

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

const (
	// gcpEndpoint is the address of the simulated Google Cloud, gcpRegion and gcpZones where its pools are.
	gcpEndpoint, gcpRegion, gcpZoneA, gcpZoneB = "http://127.0.0.1:9", "us-central1", "us-central1-a", "us-central1-b"
	// gcpType is the machine type that pools begin with, otherGCPType another one.
	gcpType, otherGCPType = "n2-standard-2", "n2-standard-4"
	// gcpImage is the image of machines, gkeName the cluster of node pools, and gkeVersion its version.
	gcpImage            = "projects/" + project.DefaultID + "/global/images/cluster-api-ubuntu-2404-v1-34-1-1760000000"
	gkeName, gkeVersion = "managed", "1.34.7-gke.1734500"
	// gkeClusters is the number of clusters, gkePools the number of node pools in each: a cluster runs one operation at a time.
	gkeClusters, gkePools = 100, 10
	// gkeCreated exceeds the time to create a cluster.
	gkeCreated = 40 * time.Minute
)

// instanceGroups are pools of managed instance groups in these zones.
func instanceGroups(zones ...string) lab[*gcpv1.MachinePoolSource] {
	return lab[*gcpv1.MachinePoolSource]{
		cloud: google, other: otherGCPType, most: sharedGroup,
		driver: func(base http.RoundTripper) (cloud.Driver[*gcpv1.MachinePoolSource], error) {
			return instancegroup.New(session.Options{Endpoint: gcpEndpoint, Base: base})
		},
		spec: func(change string) *gcpv1.MachinePoolSource {
			return &gcpv1.MachinePoolSource{
				Pool: &gcpv1.GCPMachinePoolSpec{
					InstanceType: cmp.Or(change, gcpType), Image: new(gcpImage), AdditionalLabels: gcpv1.Labels{"team": "a"},
					DistributionPolicy: &gcpv1.DistributionPolicy{Zones: zones},
				},
				Cluster: gcpCluster("capg"),
			}
		},
	}
}

// nodePools are node pools of clusters of GKE, each in one zone.
func nodePools() lab[*gcpv1.ManagedMachinePoolSource] {
	return lab[*gcpv1.ManagedMachinePoolSource]{
		cloud: gkeCluster, other: otherGCPType, most: sharedNodePool,
		driver: func(base http.RoundTripper) (cloud.Driver[*gcpv1.ManagedMachinePoolSource], error) {
			return nodepool.New(session.Options{Endpoint: gcpEndpoint, Base: base})
		},
		spec: func(change string) *gcpv1.ManagedMachinePoolSource {
			return &gcpv1.ManagedMachinePoolSource{
				Name:    "pool",
				Cluster: gcpv1.ManagedClusterView{Name: gkeName, Location: gcpRegion, Version: "v1.34.7", View: gcpCluster(gkeName)},
				Pool:    &gcpv1.GCPManagedMachinePoolSpec{InstanceType: new(cmp.Or(change, gcpType)), NodeLocations: []string{gcpZoneA}},
			}
		},
		place: func(spec *gcpv1.ManagedMachinePoolSource, k int) {
			spec.Name, spec.Cluster.Name = fmt.Sprintf("pool-%d", k), gkeClusterName(k/gkePools)
		},
	}
}

// gkeClusterName returns the name of one of the clusters of node pools.
func gkeClusterName(k int) string {
	if k == 0 {
		return gkeName
	}
	return fmt.Sprintf("%s-%d", gkeName, k)
}

// gcpCluster returns a cluster in the default network.
func gcpCluster(name string) gcpv1.ClusterView {
	return gcpv1.ClusterView{Name: name, ClusterName: name, Project: project.DefaultID, Region: gcpRegion, Network: "default", Ready: true}
}

// google returns a project of a simulated Google Cloud.
func google(inside sim.MachineHost, speed float64) (simulated, error) {
	return simgcp.New(simgcp.Options{Seed: 1, Speed: speed, MachineHost: inside})
}

// gkeCluster returns a project of a simulated Google Cloud with clusters of GKE.
func gkeCluster(inside sim.MachineHost, speed float64) (simulated, error) {
	made, err := simgcp.New(simgcp.Options{Seed: 1, Speed: speed, MachineHost: inside})
	if err != nil {
		return nil, err
	}
	for k := range gkeClusters {
		_, failed := made.GKE.PutCluster(container.DesiredCluster{Project: project.DefaultID, Location: gcpRegion, Name: gkeClusterName(k),
			Body: document.Object{
				"initialClusterVersion": gkeVersion, "releaseChannel": document.Object{"channel": "UNSPECIFIED"},
			}})
		err = errors.Join(err, failed)
	}
	time.Sleep(gkeCreated)
	return made, err
}
