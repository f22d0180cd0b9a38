pub struct Settings;
