package v1beta1

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/aws/v1beta2"
)

// conversionDataAnnotation keeps what v1beta1 has no field for, so that an object that is read and written back in this version
// loses nothing. It is the ecosystem's name for it. An object that v1beta1 can say in full does not carry it.
const conversionDataAnnotation = "cluster.x-k8s.io/conversion-data"

// defaultInstanceWarmup is what the stored version's schema fills in. It is not worth an annotation on every object.
const defaultInstanceWarmup = 5 * time.Minute

// newerFields are what only v1beta2 has fields for, spelled as there.
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

// marshalData writes into the metadata what of the stored object has no field in v1beta1.
func marshalData(meta *metav1.ObjectMeta, kept any) error {
	delete(meta.Annotations, conversionDataAnnotation)
	data, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("keeping what v1beta1 has no field for: %w", err)
	}
	if string(data) == "{}" {
		return nil
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations[conversionDataAnnotation] = string(data)
	return nil
}

// unmarshalData takes out of the metadata what marshalData wrote there.
func unmarshalData[A any](meta *metav1.ObjectMeta) (A, error) {
	var a A
	data, ok := meta.Annotations[conversionDataAnnotation]
	if !ok {
		return a, nil
	}
	delete(meta.Annotations, conversionDataAnnotation)
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
	if err := json.Unmarshal([]byte(data), &a); err != nil {
		return a, fmt.Errorf("metadata.annotations[%s]: want what reading the object as v1beta1 wrote there (or no such annotation): %w",
			conversionDataAnnotation, err)
	}
	return a, nil
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

// newerTemplateOf is what of a launch template has no field in v1beta1.
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
