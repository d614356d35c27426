package azure

// Routes are all operations.
func Routes() []route { return allRoutes }
