language = TFStack2099 # want error "Unknown language edition" `TFStack2099`

nonsense {}
