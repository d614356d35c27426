package v1beta1

// Image is the image of virtual machines. Exactly one of its fields is set.
// +kubebuilder:validation:XValidation:rule="has(self.id) || has(self.marketplace) || has(self.sharedGallery) || has(self.computeGallery)",reason=FieldValueRequired,message="You must supply a ID, Marketplace or ComputeGallery image details"
// +kubebuilder:validation:XValidation:rule="!has(self.marketplace) || !has(self.id)",fieldPath=".marketplace",reason=FieldValueForbidden,message="Marketplace cannot be used as an image ID has been specified"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedGallery) || !(has(self.id) || has(self.marketplace))",fieldPath=".sharedGallery",reason=FieldValueForbidden,message="SharedGallery cannot be used as an image ID, Marketplace or ComputeGallery images has been specified"
// +kubebuilder:validation:XValidation:rule="!has(self.computeGallery) || !(has(self.id) || has(self.marketplace) || has(self.sharedGallery))",fieldPath=".computeGallery",reason=FieldValueForbidden,message="ComputeGallery cannot be used as an image ID, Marketplace or SharedGallery images has been specified"
type Image struct {
	// ID is the resource ID of an image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	ID *string `json:"id,omitempty"`

	// SharedGallery is an image of a gallery. It is deprecated in favour of computeGallery.
	// +optional
	SharedGallery *AzureSharedGalleryImage `json:"sharedGallery,omitempty"`

	// Marketplace is an image that is sold, or given away, in Azure's marketplace.
	// +optional
	Marketplace *AzureMarketplaceImage `json:"marketplace,omitempty"`

	// ComputeGallery is an image of a gallery: of a private one if subscription and resource group are set, else of a community gallery.
	// +optional
	ComputeGallery *AzureComputeGalleryImage `json:"computeGallery,omitempty"`
}

// ImagePlan names what an image was sold as.
type ImagePlan struct {
	// Publisher is the publisher of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Publisher string `json:"publisher"`

	// Offer is the group of images that it belongs to.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Offer string `json:"offer"`

	// SKU is which one of the group it is.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	SKU string `json:"sku"`
}

// AzureMarketplaceImage is an image of Azure's marketplace.
type AzureMarketplaceImage struct {
	ImagePlan `json:",inline"`

	// Version of the image as Major.Minor.Build, or latest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version"`

	// ThirdPartyImage is true if the image is sold under a plan, which is then sent along.
	// +optional
	// +kubebuilder:default=false
	ThirdPartyImage bool `json:"thirdPartyImage"`
}

// AzureComputeGalleryImage is an image of a gallery.
// +kubebuilder:validation:XValidation:rule="!has(self.subscriptionID) || has(self.resourceGroup)",fieldPath=".resourceGroup",reason=FieldValueRequired,message="ResourceGroup cannot be empty when specifying an AzureComputeGalleryImage with a SubscriptionID"
// +kubebuilder:validation:XValidation:rule="!has(self.resourceGroup) || has(self.subscriptionID)",fieldPath=".subscriptionID",reason=FieldValueRequired,message="SubscriptionID cannot be empty when specifying an AzureComputeGalleryImage with a ResourceGroup"
type AzureComputeGalleryImage struct {
	// Gallery is the name of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Gallery string `json:"gallery"`

	// Name of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// Version of the image as Major.Minor.Build, or latest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version"`

	// SubscriptionID is the subscription of a private gallery.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	SubscriptionID *string `json:"subscriptionID,omitempty"`

	// ResourceGroup is the resource group of a private gallery.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ResourceGroup *string `json:"resourceGroup,omitempty"`

	// Plan is the purchase plan of the marketplace image from which the image was made, if any.
	// +optional
	Plan *ImagePlan `json:"plan,omitempty"`
}

// AzureSharedGalleryImage is an image of a private gallery.
// +kubebuilder:validation:XValidation:rule="has(self.publisher) == has(self.offer) && has(self.offer) == has(self.sku)",reason=FieldValueInvalid,message="publisher, offer and sku are a plan: set all three or none"
type AzureSharedGalleryImage struct {
	// SubscriptionID of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	SubscriptionID string `json:"subscriptionID"`

	// ResourceGroup of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ResourceGroup string `json:"resourceGroup"`

	// Gallery is the name of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Gallery string `json:"gallery"`

	// Name of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// Version of the image as Major.Minor.Build, or latest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version"`

	// Publisher, Offer and SKU are the plan that the image was sold under, where it was made from one that is sold.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Publisher *string `json:"publisher,omitempty"`

	// Offer is the second part of the plan.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Offer *string `json:"offer,omitempty"`

	// SKU is the third part of the plan.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	SKU *string `json:"sku,omitempty"`
}
