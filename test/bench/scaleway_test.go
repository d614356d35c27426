package bench

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/scaleway/kapsule"
	"github.com/muster-project/muster/sim"
	simscaleway "github.com/muster-project/muster/sim/scaleway"
)

const (
	// kapsuleVersion is the version of the control plane and of its pools, kapsuleCreated how long a cluster takes at most to be created.
	kapsuleVersion = "1.34.1"
	kapsuleCreated = time.Minute
	// sharedKapsule bounds the requests of a pass over one of six pools in a cluster, which share two lists.
	sharedKapsule = 0.4
)

// kapsulePools returns pools of Kapsule in one cluster. A change affects one of their labels, since the node type is immutable.
func kapsulePools() lab[*scalewayv1.ManagedMachinePoolSource] {
	return lab[*scalewayv1.ManagedMachinePoolSource]{cloud: scalewayProject, most: sharedKapsule, other: "other",
		driver: func(base http.RoundTripper) (cloud.Driver[*scalewayv1.ManagedMachinePoolSource], error) {
			return kapsule.New(kapsule.Options{Endpoint: "http://127.0.0.1:9", Base: base})
		},
		spec: func(change string) *scalewayv1.ManagedMachinePoolSource {
			return &scalewayv1.ManagedMachinePoolSource{
				Name: "pool",
				Pool: &scalewayv1.ScalewayManagedMachinePoolSpec{NodeType: "PRO2-XXS", Zone: simscaleway.Region + "-1",
					Labels: scalewayv1.NodeLabels{"tier": scalewayv1.NodeLabelValue(cmp.Or(change, "first"))}},
				Cluster: scalewayv1.ClusterView{Name: simscaleway.ClusterName, ClusterName: "c", Region: simscaleway.Region,
					ProjectID: simscaleway.ProjectID, Ready: true,
					Identity: &scalewayv1.IdentityView{Name: "Secret/default/scaleway", AccessKey: simscaleway.AccessKey,
						SecretKey: common.NewSecret(simscaleway.SecretKey)}},
			}
		},
		place: func(spec *scalewayv1.ManagedMachinePoolSource, k int) { spec.Name = fmt.Sprintf("pool-%d", k) },
	}
}

// scalewayProject returns a project of a simulated Scaleway with a cluster.
func scalewayProject(inside sim.MachineHost, speed float64) (simulated, error) {
	made, err := simscaleway.New(simscaleway.Options{Seed: 1, Speed: speed, MachineHost: inside, Versions: []string{kapsuleVersion}})
	if err != nil {
		return nil, err
	}
	_, err = made.PutCluster(simscaleway.Access{Name: simscaleway.ClusterName, Version: kapsuleVersion})
	time.Sleep(kapsuleCreated)
	return made, err
}
