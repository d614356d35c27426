package v1beta1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/aws/v1beta2"
)

// version is the version of this package, for messages.
const version = "v1beta1"

// defaultInstanceWarmup is the default in the schema of the stored version. A field with this value needs no annotation for the conversion.
const defaultInstanceWarmup = 5 * time.Minute

// newerFields holds the fields that exist only in v1beta2, with the names that they have there.
type newerFields struct {
	Spec   newerSpec   `json:"spec,omitzero"`
	Status newerStatus `json:"status,omitzero"`
}

type newerSpec struct {
	AvailabilityZoneSubnetType *v1beta2.AZSubnetType          `json:"availabilityZoneSubnetType,omitempty"`
	AWSLaunchTemplate          newerTemplate                  `json:"awsLaunchTemplate,omitzero"`
	DefaultInstanceWarmup      *metav1.Duration               `json:"defaultInstanceWarmup,omitempty"`
	RefreshPreferences         newerRefresh                   `json:"refreshPreferences,omitzero"`
	SuspendProcesses           *v1beta2.SuspendProcessesTypes `json:"suspendProcesses,omitempty"`
	Ignition                   *v1beta2.Ignition              `json:"ignition,omitempty"`
	AWSLifecycleHooks          []v1beta2.AWSLifecycleHook     `json:"lifecycleHooks,omitempty"`
}

type newerTemplate struct {
	NonRootVolumes                []v1beta2.Volume                      `json:"nonRootVolumes,omitempty"`
	InstanceMetadataOptions       *v1beta2.InstanceMetadataOptions      `json:"instanceMetadataOptions,omitempty"`
	EnclaveOptions                *v1beta2.EnclaveOptions               `json:"enclaveOptions,omitempty"`
	PrivateDNSName                *v1beta2.PrivateDNSName               `json:"privateDnsName,omitempty"`
	CapacityReservationID         *string                               `json:"capacityReservationId,omitempty"`
	MarketType                    v1beta2.MarketType                    `json:"marketType,omitempty"`
	CapacityReservationPreference v1beta2.CapacityReservationPreference `json:"capacityReservationPreference,omitempty"`
}

type newerRefresh struct {
	Disable              bool   `json:"disable,omitempty"`
	MaxHealthyPercentage *int64 `json:"maxHealthyPercentage,omitempty"`
}

type newerStatus struct {
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`
}

func newerFieldsOf(from *v1beta2.AWSMachinePool) newerFields {
	spec := &from.Spec
	a := newerFields{
		Spec: newerSpec{
			AvailabilityZoneSubnetType: spec.AvailabilityZoneSubnetType,
			AWSLaunchTemplate:          newerTemplateOf(&spec.AWSLaunchTemplate),
			SuspendProcesses:           spec.SuspendProcesses,
			Ignition:                   spec.Ignition,
			AWSLifecycleHooks:          spec.AWSLifecycleHooks,
		},
		Status: newerStatus{InfrastructureMachineKind: from.Status.InfrastructureMachineKind},
	}
	if w := spec.DefaultInstanceWarmup; w != nil && w.Duration != defaultInstanceWarmup {
		a.Spec.DefaultInstanceWarmup = w
	}
	if r := spec.RefreshPreferences; r != nil {
		a.Spec.RefreshPreferences = newerRefresh{Disable: r.Disable, MaxHealthyPercentage: r.MaxHealthyPercentage}
	}
	return a
}

// restore writes back what was kept aside.
func (a newerFields) restore(to *v1beta2.AWSMachinePool) {
	spec := &to.Spec
	spec.AvailabilityZoneSubnetType = a.Spec.AvailabilityZoneSubnetType
	spec.SuspendProcesses = a.Spec.SuspendProcesses
	spec.Ignition = a.Spec.Ignition
	spec.AWSLifecycleHooks = a.Spec.AWSLifecycleHooks
	spec.DefaultInstanceWarmup = a.Spec.DefaultInstanceWarmup
	if spec.DefaultInstanceWarmup == nil {
		spec.DefaultInstanceWarmup = &metav1.Duration{Duration: defaultInstanceWarmup}
	}
	// Preferences that v1beta1 took away are gone: there is nothing left that the rest could belong to.
	if r := spec.RefreshPreferences; r != nil {
		r.Disable = a.Spec.RefreshPreferences.Disable
		r.MaxHealthyPercentage = a.Spec.RefreshPreferences.MaxHealthyPercentage
	}
	a.Spec.AWSLaunchTemplate.restore(&spec.AWSLaunchTemplate)
	to.Status.InfrastructureMachineKind = a.Status.InfrastructureMachineKind
}

// newerTemplateOf returns the fields of a launch template that v1beta1 lacks.
func newerTemplateOf(t *v1beta2.AWSLaunchTemplate) newerTemplate {
	return newerTemplate{
		NonRootVolumes:                t.NonRootVolumes,
		InstanceMetadataOptions:       t.InstanceMetadataOptions,
		EnclaveOptions:                t.EnclaveOptions,
		PrivateDNSName:                t.PrivateDNSName,
		CapacityReservationID:         t.CapacityReservationID,
		MarketType:                    t.MarketType,
		CapacityReservationPreference: t.CapacityReservationPreference,
	}
}

// restore writes back what was kept aside.
func (a newerTemplate) restore(t *v1beta2.AWSLaunchTemplate) {
	t.NonRootVolumes = a.NonRootVolumes
	t.InstanceMetadataOptions = a.InstanceMetadataOptions
	t.EnclaveOptions = a.EnclaveOptions
	t.PrivateDNSName = a.PrivateDNSName
	t.CapacityReservationID = a.CapacityReservationID
	t.MarketType = a.MarketType
	t.CapacityReservationPreference = a.CapacityReservationPreference
}
