package v1beta1

// Labels are names and values that cloud objects carry.
// +kubebuilder:validation:MaxProperties=56
// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[\\\\p{Ll}\\\\p{Lo}][\\\\p{Ll}\\\\p{Lo}\\\\p{N}_-]{0,62}$'))",reason=FieldValueInvalid,message="every key must have 1 to 63 characters, begin with a lower-case letter and hold only lower-case letters, digits, '-' and '_'"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('muster-dev_'))",reason=FieldValueInvalid,message="no key may begin with muster-dev_: these labels name the owner of a cloud object"
type Labels map[string]LabelValue

// LabelValue is the value of a label of a cloud object.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[\p{Ll}\p{Lo}\p{N}_-]*$`
type LabelValue string

// Strings returns the labels as plain strings; nil for none.
func (l Labels) Strings() map[string]string { return toStrings(l) }

// toStrings returns a map with plain values; nil for none.
func toStrings[V ~string](from map[string]V) map[string]string {
	if len(from) == 0 {
		return nil
	}
	out := make(map[string]string, len(from))
	for key, value := range from {
		out[key] = string(value)
	}
	return out
}

// ResourceManagerTag is a tag of Resource Manager that instances are bound to.
type ResourceManagerTag struct {
	// ParentID is the organization (a number) or the project that the tag is defined in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([1-9][0-9]{0,31}|[a-z][a-z0-9-]{4,28}[a-z0-9])$`
	ParentID string `json:"parentID"`

	// Key of the tag.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([0-9A-Za-z_.-]{0,61}[a-zA-Z0-9])?$`
	Key string `json:"key"`

	// Value of the tag.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([0-9A-Za-z_.@%=+:,*#&()\[\]{}\-\s]{0,61}[a-zA-Z0-9])?$`
	Value string `json:"value"`
}
