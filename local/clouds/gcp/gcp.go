// Package gcp is the local side of Google Cloud.
package gcp

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/gcp/gke"
	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/infracluster"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Cloud returns the local side of Google Cloud.
func Cloud() clouds.Cloud {
	return clouds.Cloud{
		Name: "gcp", Title: "Google Cloud",
		Simulate: simulate,
		Clients: clouds.Clients{
			Settings: settings, Account: settings,
			Prefixes: []string{"GOOGLE_", "GCLOUD_", "GCE_METADATA_", "CLOUDSDK_", "MUSTER_GCP_"},
			Hosts:    []string{"compute.googleapis.com", "container.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com"},
		},
		Seed:        standin.Seed(),
		Kinds:       standin.Kinds(),
		Reconcilers: reconcilers,
		Resources:   []string{"gcpmachinepool", "gcpmanagedmachinepool"},
		Help: clouds.Help{
			Variable: "GCP_PROJECT", Hosts: "compute.googleapis.com, container.googleapis.com",
			Plan: "gcpmachinepool/workers --set spec.instanceType=n2-standard-4",
		},
	}
}

func simulate(o clouds.Options) (clouds.Simulator, error) {
	server, err := gcp.New(gcp.Options{Dir: o.Dir, Speed: o.Speed, MachineHost: o.MachineHost})
	if err != nil {
		return clouds.Simulator{}, err
	}
	return clouds.Simulator{Handler: server, Close: server.Close}, nil
}

// settings lead Muster to the simulator, which takes any token of clients without credentials.
func settings(base string) []string {
	return []string{"MUSTER_GCP_ENDPOINT=" + base, "GOOGLE_CLOUD_PROJECT=" + project.DefaultID}
}

func reconcilers(in clouds.Inputs) []clouds.Reconciler {
	network := standin.Network{Project: project.DefaultID, Region: standin.Region, Zones: zones,
		Compute: standin.HTTP{Endpoint: in.Endpoint}}
	return []clouds.Reconciler{
		&infracluster.Reconciler{Client: in.Client, Kind: standin.GCPCluster,
			Network: func(*unstructured.Unstructured) infracluster.Network { return network }},
		gke.Clusters(in.Client, network),
		&gke.ControlPlanes{Client: in.Client, Servers: in.Servers, Publisher: in.Publisher, Network: network,
			Registry: gke.HTTP{Endpoint: in.Endpoint}},
	}
}

// zones returns the zones of a region; none for a region that does not exist.
func zones(region string) []string {
	if r := project.FindRegion(region); r != nil {
		return r.Zones
	}
	return nil
}
