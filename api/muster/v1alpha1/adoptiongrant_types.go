package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// AdoptionGrantKind is the name of the kind.
const AdoptionGrantKind = "AdoptionGrant"

// Account is an account of AWS, a subscription of Azure or a project of Google Cloud, by its ID.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9.:-]*$`
type Account string

// GroupPattern is a pattern for names of groups: * matches any text without a slash, every other character itself.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^[^\[\]?\\]+$`
type GroupPattern string

// AdoptionGrantSpec names the namespaces, accounts and groups that the operator allows. A grant is read when a pool asks to adopt a group
// (annotation muster.dev/adopt) and has no effect afterwards.
type AdoptionGrantSpec struct {
	// Namespaces whose pools may adopt: those in the list, and those whose labels the selector selects. An empty object allows all namespaces;
	// without the field none is allowed.
	// +optional
	Namespaces *common.AllowedNamespaces `json:"namespaces,omitempty"`

	// Accounts that the groups are in: the ID of an account of AWS (12 digits), of a subscription of Azure (in lower case), or of a project of
	// Google Cloud. Each is an exact value.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Accounts []Account `json:"accounts"`

	// Groups are patterns for names of groups, in which * matches any text without a slash. An Auto Scaling group or a managed instance group
	// has its plain name, a scale set RESOURCEGROUP/NAME, a node group of EKS and a node pool of GKE CLUSTER/NAME, an agent pool of AKS
	// RESOURCEGROUP/CLUSTER/NAME.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Groups []GroupPattern `json:"groups"`
}

// AdoptionGrant is the operator's consent that machine pools of some namespaces adopt groups that other tools made and whose tags name no
// cluster. It never reaches a group whose tags name another owner, cluster or namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=adoptiongrants,scope=Cluster
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Accounts",type=string,JSONPath=`.spec.accounts`
// +kubebuilder:printcolumn:name="Groups",type=string,JSONPath=`.spec.groups`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AdoptionGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec AdoptionGrantSpec `json:"spec"`
}

// AdoptionGrantList is a list of AdoptionGrants.
//
// +kubebuilder:object:root=true
type AdoptionGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AdoptionGrant `json:"items"`
}
