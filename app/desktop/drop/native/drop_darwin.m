#import <AppKit/AppKit.h>
#import <objc/runtime.h>

#include "_cgo_export.h"

enum { dragOver, dragGone, dragDropped };

static char handleKey;

// tell says what is dragged over the view, and where in it, in pixels from its
// upper left corner.
static BOOL tell(NSView *view, id<NSDraggingInfo> info, int what) {
	NSNumber *handle = objc_getAssociatedObject(view, &handleKey);
	if (handle == nil) {
		return NO;
	}
	NSMutableData *names = [NSMutableData data];
	NSPoint at = NSZeroPoint;
	if (info != nil) {
		NSArray<NSURL *> *urls = [[info draggingPasteboard] readObjectsForClasses:@[ [NSURL class] ]
		                                                                  options:@{NSPasteboardURLReadingFileURLsOnlyKey : @YES}];
		for (NSURL *url in urls) {
			const char *name = url.fileSystemRepresentation;
			[names appendBytes:name length:strlen(name) + 1];
		}
		at = [view convertPoint:[info draggingLocation] fromView:nil];
		if (!view.isFlipped) {
			at.y = view.bounds.size.height - at.y;
		}
		CGFloat scale = view.window.backingScaleFactor;
		at.x *= scale;
		at.y *= scale;
	}
	return ashlarMacDrag((uintptr_t)handle.unsignedLongLongValue, what, at.x, at.y, (void *)names.bytes, (int)names.length) != 0;
}

// Files are copied, which is to say left where they are.
static NSDragOperation over(NSView *self, SEL _cmd, id<NSDraggingInfo> info) {
	return tell(self, info, dragOver) ? NSDragOperationCopy : NSDragOperationNone;
}

static void gone(NSView *self, SEL _cmd, id<NSDraggingInfo> info) {
	tell(self, nil, dragGone);
}

static BOOL dropped(NSView *self, SEL _cmd, id<NSDraggingInfo> info) {
	return tell(self, info, dragDropped);
}

void ashlar_drop_register(uintptr_t viewRef, uintptr_t handle) {
	@autoreleasepool {
		NSView *view = (__bridge NSView *)(void *)viewRef;
		NSString *operation = [NSString stringWithFormat:@"%s@:@", @encode(NSDragOperation)];
		NSString *truth = [NSString stringWithFormat:@"%s@:@", @encode(BOOL)];
		// A class has a method once; adding it again does nothing.
		class_addMethod([view class], @selector(draggingEntered:), (IMP)over, operation.UTF8String);
		class_addMethod([view class], @selector(draggingUpdated:), (IMP)over, operation.UTF8String);
		class_addMethod([view class], @selector(draggingExited:), (IMP)gone, "v@:@");
		class_addMethod([view class], @selector(performDragOperation:), (IMP)dropped, truth.UTF8String);
		objc_setAssociatedObject(view, &handleKey, @(handle), OBJC_ASSOCIATION_RETAIN);
		// Text too, to say why it cannot be dropped.
		[view registerForDraggedTypes:@[ NSPasteboardTypeFileURL, NSPasteboardTypeURL, NSPasteboardTypeString ]];
	}
}
