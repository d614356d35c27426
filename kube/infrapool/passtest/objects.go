package passtest

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Around returns a Cluster that is up, and a MachinePool of two machines for an infrastructure object of a kind.
func Around(infra, controlPlane, pool clusterv1.ContractVersionedObjectReference) []client.Object {
	return []client.Object{
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: Cluster.Namespace, Name: Cluster.Name},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: infra, ControlPlaneRef: controlPlane},
			Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: new(true),
				ControlPlaneInitialized: new(true)}}},
		&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: MachinePool.Namespace, Name: MachinePool.Name, UID: "mp"},
			Spec: clusterv1.MachinePoolSpec{ClusterName: Cluster.Name, Replicas: new(int32(2)),
				Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
					ClusterName: Cluster.Name, Version: "v1.34.2", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")}, InfrastructureRef: pool}}}},
	}
}

// Owned returns the metadata of an infrastructure object of the MachinePool.
func Owned() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: Infra.Namespace, Name: Infra.Name, UID: "11111111-2222-3333-4444-555555555555", Generation: 1,
		Labels: map[string]string{clusterv1.ClusterNameLabel: Cluster.Name},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: MachinePool.Name,
			UID: "mp"}},
	}
}

// Definition returns a CustomResourceDefinition of an infrastructure kind, by its plural, with one version.
func Definition(plural, version string) client.Object {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: plural + ".infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": version}}}
}
