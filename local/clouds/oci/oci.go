// Package oci is the local side of Oracle Cloud.
package oci

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/oci/oke"
	"github.com/muster-project/muster/local/clouds/oci/standin"
	"github.com/muster-project/muster/local/infracluster"
	"github.com/muster-project/muster/sim/oci"
)

// Cloud returns the local side of Oracle Cloud.
func Cloud() clouds.Cloud {
	return clouds.Cloud{
		Name: "oci", Title: "Oracle Cloud",
		Simulate: simulate,
		Clients: clouds.Clients{
			Settings: settings, Account: settings,
			Prefixes: []string{"OCI_", "MUSTER_OCI_", "AUTH_CONFIG_DIR"},
			Hosts:    []string{"iaas." + oci.Region + ".oraclecloud.com", "containerengine." + oci.Region + ".oci.oraclecloud.com"},
		},
		Seed:        standin.Seed(),
		Kinds:       standin.Kinds(),
		Reconcilers: reconcilers,
		Resources:   []string{"ocimachinepool", "ocimanagedmachinepool", "ocivirtualmachinepool", "ocimachinepoolmachine"},
		Help: clouds.Help{
			Variable: "OCI_COMPARTMENT_ID", Hosts: "iaas." + oci.Region + ".oraclecloud.com",
			Plan: "ocimanagedmachinepool/workers --set spec.nodeShape=VM.Standard.E5.Flex",
		},
	}
}

func simulate(o clouds.Options) (clouds.Simulator, error) {
	cloud, err := oci.New(oci.Options{Dir: o.Dir, Speed: o.Speed, MachineHost: o.MachineHost})
	if err != nil {
		return clouds.Simulator{}, err
	}
	return clouds.Simulator{Handler: cloud, Close: cloud.Close}, nil
}

// settings lead Muster to the simulator, which takes every key. Without credentials Muster signs with one of its own there.
func settings(base string) []string { return []string{"MUSTER_OCI_ENDPOINT=" + base} }

func reconcilers(in clouds.Inputs) []clouds.Reconciler {
	return []clouds.Reconciler{
		&infracluster.Reconciler{Client: in.Client, Kind: standin.OCICluster,
			Network: func(*unstructured.Unstructured) infracluster.Network { return standin.Network{} }},
		oke.Clusters(in.Client),
		&oke.ControlPlanes{Client: in.Client, Servers: in.Servers, Publisher: in.Publisher, Registry: oke.HTTP{Endpoint: in.Endpoint}},
	}
}
