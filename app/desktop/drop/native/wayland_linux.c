#include <stddef.h>
#include <stdint.h>
#include <wayland-client.h>
#include "_cgo_export.h"

// The linker is told (--wrap, in wayland_linux.go) that who calls gio_X gets
// __wrap_X here, and that __real_X is Gio's. Weak, since a build without
// Wayland has no such functions.
#define WRAP(name, params) \
	extern void __real_##name params __attribute__((weak)); \
	void __wrap_##name params

WRAP(gio_onOutputScale, (void *data, struct wl_output *output, int32_t scale)) {
	ashlarWaylandScale(output, scale);
	__real_gio_onOutputScale(data, output, scale);
}

WRAP(gio_onSurfaceEnter, (void *data, struct wl_surface *surface, struct wl_output *output)) {
	ashlarWaylandOn(surface, output, 1);
	__real_gio_onSurfaceEnter(data, surface, output);
}

WRAP(gio_onSurfaceLeave, (void *data, struct wl_surface *surface, struct wl_output *output)) {
	ashlarWaylandOn(surface, output, 0);
	__real_gio_onSurfaceLeave(data, surface, output);
}

WRAP(gio_onDataDeviceOffer, (void *data, struct wl_data_device *device, struct wl_data_offer *offer)) {
	__real_gio_onDataDeviceOffer(data, device, offer);
	ashlarWaylandOffer(offer);
}

WRAP(gio_onDataOfferOffer, (void *data, struct wl_data_offer *offer, char *type)) {
	__real_gio_onDataOfferOffer(data, offer, type);
	ashlarWaylandType(offer, type);
}

WRAP(gio_onDataDeviceEnter, (void *data, struct wl_data_device *device, uint32_t serial, struct wl_surface *surface,
	wl_fixed_t x, wl_fixed_t y, struct wl_data_offer *offer)) {
	if (!ashlarWaylandEnter(data, device, serial, surface, x, y, offer)) {
		__real_gio_onDataDeviceEnter(data, device, serial, surface, x, y, offer);
	}
}

WRAP(gio_onDataDeviceMotion, (void *data, struct wl_data_device *device, uint32_t time, wl_fixed_t x, wl_fixed_t y)) {
	ashlarWaylandMotion(x, y);
	__real_gio_onDataDeviceMotion(data, device, time, x, y);
}

WRAP(gio_onDataDeviceLeave, (void *data, struct wl_data_device *device)) {
	ashlarWaylandLeave();
	__real_gio_onDataDeviceLeave(data, device);
}

WRAP(gio_onDataDeviceDrop, (void *data, struct wl_data_device *device)) {
	ashlarWaylandDrop();
	__real_gio_onDataDeviceDrop(data, device);
}

WRAP(gio_onDataDeviceSelection, (void *data, struct wl_data_device *device, struct wl_data_offer *offer)) {
	if (!ashlarWaylandSelection(data, device, offer)) {
		__real_gio_onDataDeviceSelection(data, device, offer);
	}
}

void ashlar_drop_gio_enter(void *data, struct wl_data_device *device, uint32_t serial, struct wl_data_offer *offer) {
	__real_gio_onDataDeviceEnter(data, device, serial, NULL, 0, 0, offer);
}

void ashlar_drop_gio_selection(void *data, struct wl_data_device *device, struct wl_data_offer *offer) {
	__real_gio_onDataDeviceSelection(data, device, offer);
}

extern const struct wl_data_device_listener gio_data_device_listener __attribute__((weak));

int ashlar_drop_wrapped(void) {
	return &gio_data_device_listener != NULL &&
		gio_data_device_listener.enter == __wrap_gio_onDataDeviceEnter &&
		gio_data_device_listener.selection == __wrap_gio_onDataDeviceSelection;
}
