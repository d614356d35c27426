// Package scaleway is the local side of Scaleway.
package scaleway

import (
	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/scaleway/kapsule"
	"github.com/muster-project/muster/local/clouds/scaleway/standin"
	"github.com/muster-project/muster/sim/scaleway"
)

// Cloud returns the local side of Scaleway.
func Cloud() clouds.Cloud {
	return clouds.Cloud{
		Name: "scaleway", Title: "Scaleway",
		Simulate: simulate,
		Clients: clouds.Clients{
			Settings: settings, Account: account,
			Prefixes: []string{"SCW_", "MUSTER_SCALEWAY_"},
			Hosts:    []string{"api.scaleway.com"},
		},
		Seed:        standin.Seed(),
		Kinds:       standin.Kinds(),
		Reconcilers: reconcilers,
		Resources:   []string{"scalewaymanagedmachinepool"},
		Help: clouds.Help{
			Variable: "SCW_PROJECT_ID", Hosts: "api.scaleway.com",
			Plan: "scalewaymanagedmachinepool/workers --set spec.upgradePolicy.maxSurge=2",
		},
	}
}

func simulate(o clouds.Options) (clouds.Simulator, error) {
	cloud, err := scaleway.New(scaleway.Options{Dir: o.Dir, Speed: o.Speed, MachineHost: o.MachineHost})
	if err != nil {
		return clouds.Simulator{}, err
	}
	return clouds.Simulator{Handler: cloud, Close: cloud.Close}, nil
}

// settings lead Muster to the simulator.
func settings(base string) []string { return []string{"MUSTER_SCALEWAY_ENDPOINT=" + base} }

// account also leads Scaleway's command line there, whose keys the simulator accepts.
func account(base string) []string {
	return append(settings(base), "SCW_API_URL="+base, "SCW_ACCESS_KEY="+scaleway.AccessKey, "SCW_SECRET_KEY="+scaleway.SecretKey,
		"SCW_DEFAULT_REGION="+scaleway.Region, "SCW_DEFAULT_ZONE="+standin.Zone, "SCW_DEFAULT_PROJECT_ID="+scaleway.ProjectID,
		"SCW_DEFAULT_ORGANIZATION_ID="+scaleway.ProjectID)
}

func reconcilers(in clouds.Inputs) []clouds.Reconciler {
	return []clouds.Reconciler{
		kapsule.Clusters(in.Client),
		&kapsule.ControlPlanes{Client: in.Client, Servers: in.Servers, Publisher: in.Publisher, Registry: kapsule.HTTP{Endpoint: in.Endpoint}},
	}
}
