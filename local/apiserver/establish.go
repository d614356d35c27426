package apiserver

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// establish has the server finish what it was killed in. It establishes a definition when it sees that the definition's names have become
// accepted; one that a killed server left between the two would never be served. Any change of such a definition has it looked at again.
func (s *Server) establish(ctx context.Context) error {
	config := rest.CopyConfig(s.Config)
	// JSON takes several times the processor time for large definitions.
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	c, err := clientset.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	definitions := c.ApiextensionsV1().CustomResourceDefinitions()
	list, err := definitions.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("list the definitions: %w", err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		accepted := apihelpers.FindCRDCondition(d, apiextensionsv1.NamesAccepted)
		if accepted == nil || accepted.Status != apiextensionsv1.ConditionTrue ||
			apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
			continue
		}
		accepted.LastTransitionTime = metav1.Now()
		// A conflict is a change by another client, which does as well.
		_, err := definitions.UpdateStatus(ctx, d, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return fmt.Errorf("have the definition %s established: %w", d.Name, err)
		}
	}
	return nil
}
