package common

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConversionDataAnnotation holds the fields that an older version of a kind lacks, so that an object that is read and written in that
// version loses nothing. It has the ecosystem's name. Objects without such fields do not have it.
const ConversionDataAnnotation = "cluster.x-k8s.io/conversion-data"

// MarshalConversionData writes to the metadata of an object the fields that its version lacks, as a struct with JSON tags.
func MarshalConversionData(meta *metav1.ObjectMeta, version string, fields any) error {
	delete(meta.Annotations, ConversionDataAnnotation)
	data, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("keeping what %s has no field for: %w", version, err)
	}
	if string(data) == "{}" {
		return nil
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations[ConversionDataAnnotation] = string(data)
	return nil
}

// UnmarshalConversionData removes the fields that MarshalConversionData wrote from the metadata and returns them.
func UnmarshalConversionData[F any](meta *metav1.ObjectMeta, version string) (fields F, err error) {
	data, ok := meta.Annotations[ConversionDataAnnotation]
	if !ok {
		return fields, nil
	}
	delete(meta.Annotations, ConversionDataAnnotation)
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		return fields, fmt.Errorf("metadata.annotations[%s]: want what reading the object as %s wrote there (or no such annotation): %w",
			ConversionDataAnnotation, version, err)
	}
	return fields, nil
}
