// Package docs holds that the documents match the code.
package docs
